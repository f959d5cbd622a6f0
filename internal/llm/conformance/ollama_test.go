package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"adze/internal/testkit/llmtest"
)

// Ollama is the format /api/chat as the suite sees it.
type Ollama struct{ llmtest.Ollama }

// Ping is a record without content.
func (Ollama) Ping() string {
	return `{"model":"m","message":{"role":"assistant","content":""},"done":false}` + "\n"
}

// Unknown are records that say nothing about the answer.
func (Ollama) Unknown() []string {
	return []string{
		`{"model":"m","done":false}` + "\n", `{"x":1}` + "\n", "\n", `{"message":null,"done":false,"error":null}` + "\n",
		`{"message":{"role":"assistant","content":"","tool_calls":[],"images":null},"done":false,"done_reason":""}` + "\n",
	}
}

// Malformed is a damaged record.
func (Ollama) Malformed() string { return `{"model":"m","message":{"role":"assis` + "\n" }

// Failure is an error object in a stream.
func (Ollama) Failure(message string) string { return fmt.Sprintf(`{"error":%q}`+"\n", message) }

// Refusal is the body of a failed request.
func (Ollama) Refusal(kind, message string) string {
	return fmt.Sprintf(`{"error":%q}`, message+" ("+kind+")")
}

// Side answers requests that ask no model.
func (Ollama) Side(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.Path != "/api/show" {
		return false
	}
	_, _ = io.Copy(io.Discard, r.Body)
	_, _ = io.WriteString(w, `{"capabilities":["completion","tools","vision"],"model_info":{"llama.context_length":131072}}`)
	return true
}

// Grown removes what may grow.
func (Ollama) Grown(body []byte) []byte {
	before, _, _ := bytes.Cut(body, []byte(`],"truncate":`))
	return before
}

// ollamaAsked is a request, strictly.
type ollamaAsked struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Truncate bool   `json:"truncate"`
	Shift    bool   `json:"shift"`
	Think    *bool  `json:"think"`
	Keep     string `json:"keep_alive"`
	Options  struct {
		Context int `json:"num_ctx"`
		Predict int `json:"num_predict"`
	} `json:"options"`
	Tools []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string         `json:"name"`
			Description string         `json:"description"`
			Parameters  map[string]any `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Messages []struct {
		Role     string   `json:"role"`
		Content  string   `json:"content"`
		Thinking string   `json:"thinking"`
		Images   [][]byte `json:"images"`
		Tool     string   `json:"tool_name"`
		CallID   string   `json:"tool_call_id"`
		Calls    []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
}

// Decode reads a request as strictly as the server.
func (Ollama) Decode(body []byte) (Request, error) {
	var a ollamaAsked
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return Request{}, err
	}
	if a.Model == "" || !a.Stream || a.Truncate || a.Shift || a.Options.Context < 8192 || a.Think != nil {
		return Request{}, fmt.Errorf("not a request with a context for a model that cannot think: %s", body)
	}
	r := Request{Model: a.Model}
	for _, t := range a.Tools {
		r.Tools = append(r.Tools, t.Function.Name)
	}
	for i, m := range a.Messages {
		item := Item{Kind: m.Role, Text: m.Content, CallID: m.CallID, Images: len(m.Images)}
		if m.Role == "tool" {
			item.Kind = "result"
			if m.Tool == "" {
				return r, fmt.Errorf("messages[%d]: a result without its tool's name", i)
			}
		}
		if m.Thinking != "" {
			item.Thinking = 1
		}
		for _, c := range m.Calls {
			item.Calls = append(item.Calls, Call{ID: c.ID, Name: c.Function.Name, Arguments: string(c.Function.Arguments)})
		}
		if m.Role == "assistant" && m.Content == "" && len(m.Calls) == 0 {
			return r, fmt.Errorf("messages[%d]: an empty answer", i)
		}
		r.Items = append(r.Items, item)
	}
	return r, nil
}
