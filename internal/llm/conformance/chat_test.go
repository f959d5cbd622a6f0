package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"

	"adze/internal/testkit/llmtest"
)

// Chat is the format Chat Completions as the suite sees it.
type Chat struct {
	llmtest.Chat
	openAI
}

// modelsOnly is a format whose clients ask nothing but models.
type modelsOnly struct{}

// Side answers requests that ask no model.
func (modelsOnly) Side(http.ResponseWriter, *http.Request) bool { return false }

// openAI is what the formats of api.openai.com have in common.
type openAI struct{ modelsOnly }

// Refusal is the body of a failed request.
func (openAI) Refusal(kind, message string) string {
	return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"param":null,"code":%q}}`, message, kind, kind)
}

// Grown removes what may grow.
func (openAI) Grown(body []byte) []byte { return bytes.TrimSuffix(body, []byte("]}")) }

// Ping is a record without content.
func (Chat) Ping() string { return ": OPENROUTER PROCESSING\n\n" }

// Unknown are records that say nothing about the answer.
func (Chat) Unknown() []string {
	return []string{
		`data: {"id":"c1","object":"chat.completion.metadata","x":1}` + "\n\n",
		`data: {"id":"c1","choices":[]}` + "\n\n", `data: {"choices":null,"error":null}` + "\n\n", "data: {}\n\n",
		`data: {"choices":[{"index":1.0,"delta":{"content":"no"},"finish_reason":"stop"}]}` + "\n\n",
		`data: {"choices":[{"index":0,"delta":{"content":"","tool_calls":[]},"finish_reason":""}]}` + "\n\n",
		`data: {"choices":[{"index":0,"delta":{"annotations":[{"type":"url"}],"audio":null,"function_call":null}}]}` + "\n\n",
		"event: metadata\ndata: {\"x\":[1]}\n\n",
	}
}

// Malformed is a damaged record.
func (Chat) Malformed() string { return "data: {\"choices\":[{\"index\":0,\"delta\":{\"conte\n\n" }

// Failure is an error object in a stream.
func (Chat) Failure(message string) string {
	return fmt.Sprintf(`data: {"error":{"message":%q,"type":"server_error","code":null}}`+"\n\n", message)
}

// chatAsked is a request, strictly: an unknown field is refused, as api.openai.com does.
type chatAsked struct {
	Model         string `json:"model"`
	Stream        bool   `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	MaxTokens int `json:"max_tokens"`
	Tools     []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string         `json:"name"`
			Description string         `json:"description"`
			Parameters  map[string]any `json:"parameters"`
			Strict      *bool          `json:"strict"`
		} `json:"function"`
	} `json:"tools"`
	Messages []struct {
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		Thoughts  string          `json:"reasoning_content"`
		Reasoning string          `json:"reasoning"`
		CallID    string          `json:"tool_call_id"`
		Calls     []struct {
			ID       string `json:"id"`
			Type     string `json:"type"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
}

// Decode reads a request as strictly as the server.
func (Chat) Decode(body []byte) (Request, error) {
	var a chatAsked
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return Request{}, err
	}
	if !a.Stream || !a.StreamOptions.IncludeUsage || a.Model == "" {
		return Request{}, fmt.Errorf("not a streaming request with usage for a model: %s", body)
	}
	r := Request{Model: a.Model}
	for _, t := range a.Tools {
		r.Tools = append(r.Tools, t.Function.Name)
	}
	name := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	for i, m := range a.Messages {
		item := Item{Kind: m.Role, CallID: m.CallID}
		var err error
		if item.Text, item.Images, err = chatContent(m.Content); err != nil {
			return r, fmt.Errorf("messages[%d]: %w", i, err)
		}
		if m.Role == "tool" {
			item.Kind = "result"
		}
		if m.Thoughts+m.Reasoning != "" {
			item.Thinking = 1
		}
		for _, c := range m.Calls {
			if len(c.ID) > 64 || c.Type != "function" || !name.MatchString(c.Function.Name) {
				return r, fmt.Errorf("messages[%d]: bad call %+v", i, c)
			}
			item.Calls = append(item.Calls, Call{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		if m.Role == "assistant" && item.Text == "" && len(item.Calls) == 0 {
			return r, fmt.Errorf("messages[%d]: an empty answer", i)
		}
		r.Items = append(r.Items, item)
	}
	return r, nil
}

func chatContent(raw json.RawMessage) (text string, images int, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", 0, nil
	}
	if raw[0] == '"' {
		return text, 0, json.Unmarshal(raw, &text)
	}
	var parts []struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Image struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", 0, err
	}
	for _, p := range parts {
		switch p.Type {
		case "text":
			text += p.Text
		case "image_url":
			images++
		case "file":
		default:
			return "", 0, fmt.Errorf("unknown part %q", p.Type)
		}
	}
	return text, images, nil
}
