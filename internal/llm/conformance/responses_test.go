package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"adze/internal/llm/wire"
)

// Responses is the format Responses as the suite sees it.
type Responses struct{ openAI }

// responsesStream writes events as api.openai.com does.
type responsesStream struct {
	*Builder
	number, index int
}

func (s *responsesStream) event(kind, rest string) {
	s.Record(fmt.Sprintf("event: %s\ndata: {\"type\":%q,\"sequence_number\":%d%s}\n\n", kind, kind, s.number, rest))
	s.number++
}

func (s *responsesStream) item(id, open, closed string, between func(at string)) {
	s.event("response.output_item.added", fmt.Sprintf(`,"output_index":%d,"item":%s`, s.index, open))
	between(fmt.Sprintf(`,"item_id":%q,"output_index":%d`, id, s.index))
	s.event("response.output_item.done", fmt.Sprintf(`,"output_index":%d,"item":%s`, s.index, closed))
	s.index++
}

// Encode writes an answer as the server does.
func (Responses) Encode(a Answer) Stream {
	s := &responsesStream{Builder: &Builder{ContentType: "text/event-responsesStream; charset=utf-8"}}
	s.event("response.created", `,"response":{"id":"resp_1","object":"response","status":"in_progress","error":null,"output":[]}`)
	if a.Reasoning != "" {
		item := `{"id":"rs_%d","type":"reasoning","encrypted_content":"gAAA%s","summary":[%s]}`
		n := len(a.Reasoning)
		s.item(fmt.Sprintf("rs_%d", n), fmt.Sprintf(item, n, "", ""),
			fmt.Sprintf(item, n, "BB", fmt.Sprintf(`{"type":"summary_text","text":%s}`, wire.JSON(a.Reasoning))), func(at string) {
				s.event("response.reasoning_summary_part.added", at+`,"summary_index":0,"part":{"type":"summary_text","text":""}`)
				for _, piece := range a.Pieces(a.Reasoning) {
					s.event("response.reasoning_summary_text.delta", fmt.Sprintf(`%s,"summary_index":0,"delta":%s`, at, wire.JSON(piece)))
				}
			})
	}
	if a.Text != "" {
		item := `{"id":"msg_1","type":"message","status":%q,"role":"assistant","content":[%s]}`
		whole := fmt.Sprintf(`{"type":"output_text","annotations":[],"text":%s}`, wire.JSON(a.Text))
		s.item("msg_1", fmt.Sprintf(item, "in_progress", ""), fmt.Sprintf(item, "completed", whole), func(at string) {
			for _, piece := range a.Pieces(a.Text) {
				s.event("response.output_text.delta", fmt.Sprintf(`%s,"content_index":0,"delta":%s,"logprobs":[]`, at, wire.JSON(piece)))
			}
			s.event("response.output_text.done", fmt.Sprintf(`%s,"content_index":0,"text":%s`, at, wire.JSON(a.Text)))
		})
	}
	for _, c := range a.Calls {
		item := fmt.Sprintf(`{"id":"fc_%s","type":"function_call","status":%%q,"call_id":%q,"name":%q,"arguments":%%s}`, c.ID, c.ID, c.Name)
		s.item("fc_"+c.ID, fmt.Sprintf(item, "in_progress", `""`), fmt.Sprintf(item, "completed", wire.JSON(c.Arguments)), func(at string) {
			for _, piece := range a.Pieces(c.Arguments) {
				s.event("response.function_call_arguments.delta", fmt.Sprintf(`%s,"delta":%s`, at, wire.JSON(piece)))
			}
			s.event("response.function_call_arguments.done", fmt.Sprintf(`%s,"arguments":%s`, at, wire.JSON(c.Arguments)))
		})
	}
	end, details := "completed", "null"
	if a.Length {
		end, details = "incomplete", `{"reason":"max_output_tokens"}`
	}
	s.End()
	s.event("response."+end, fmt.Sprintf(`,"response":{"id":"resp_1","object":"response","status":%q,"error":null,"incomplete_details":%s,"output":[],"usage":{"input_tokens":%d,"input_tokens_details":{"cached_tokens":0},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":0}}}`,
		end, details, a.Usage.Input, a.Usage.Output))
	return s.Stream()
}

// Ping is a record without content.
func (Responses) Ping() string {
	return "event: keepalive\ndata: {\"type\":\"keepalive\",\"sequence_number\":4}\n\n"
}

// Unknown are records that say nothing about the answer.
func (Responses) Unknown() []string {
	return []string{
		"event: response.in_progress\ndata: {\"type\":\"response.in_progress\",\"response\":{\"status\":\"in_progress\"}}\n\n",
		"event: response.x.delta\ndata: {\"type\":\"response.x.delta\",\"delta\":{\"a\":1}}\n\n",
		`data: {"type":"response.output_item.added","output_index":70,"item":{"id":"ts_1","call_id":"tc_1","type":"tool_search_call","arguments":{}}}` + "\n\n" +
			`data: {"type":"response.output_item.done","output_index":70,"item":{"id":"ts_2","call_id":"tc_2","type":"tool_search_call","arguments":{}}}` + "\n\n",
		`data: {"type":"response.output_item.added","output_index":0,"item":{"id":"ts_1","type":"tool_search_output","status":null}}` + "\n\n" +
			`data: {"type":"response.output_item.added","output_index":0,"item":{"id":"ts_1","type":"tool_search_output"}}` + "\n\n" +
			`data: {"type":"response.output_item.done","output_index":0,"item":{"id":"ts_1","type":"tool_search_output","tools":[]}}` + "\n\n",
		`data: {"type":"response.output_item.done","output_index":71,"item":{"id":9,"type":"web_search_call","action":{"query":""}}}` + "\n\n",
	}
}

// Malformed is a damaged record.
func (Responses) Malformed() string {
	return "event: response.output_text.delta\ndata: {\"type\":\"response.output_te\n\n"
}

// Failure is an error object in a stream.
func (Responses) Failure(message string) string {
	return fmt.Sprintf("event: error\ndata: {\"type\":\"error\",\"code\":null,\"message\":%q,\"param\":null,\"sequence_number\":3}\n\n", message)
}

// responsesAsked is a request, strictly: an unknown field is refused, as api.openai.com does.
type responsesAsked struct {
	Model     string   `json:"model"`
	Stream    bool     `json:"stream"`
	Store     *bool    `json:"store"`
	Include   []string `json:"include"`
	Reasoning struct {
		Effort  string `json:"effort"`
		Summary string `json:"summary"`
	} `json:"reasoning"`
	MaxTokens    int    `json:"max_output_tokens"`
	Instructions string `json:"instructions"`
	Tools        []struct {
		Type        string         `json:"type"`
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  map[string]any `json:"parameters"`
		Strict      *bool          `json:"strict"`
	} `json:"tools"`
	Input []json.RawMessage `json:"input"`
}

// responsesItem is an input item, strictly.
type responsesItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   []responsesPart `json:"content"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Encrypted string          `json:"encrypted_content"`
	Summary   []responsesPart `json:"summary"`
}

type responsesPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL string `json:"image_url"`
	Filename string `json:"filename"`
	FileData string `json:"file_data"`
}

func strictly(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// Decode reads a request as strictly as the server.
func (Responses) Decode(body []byte) (Request, error) {
	var a responsesAsked
	if err := strictly(body, &a); err != nil {
		return Request{}, err
	}
	if !a.Stream || a.Store == nil || *a.Store || a.Model == "" || len(a.Include) != 1 {
		return Request{}, fmt.Errorf("not a streaming request that stores nothing: %s", body)
	}
	r := Request{Model: a.Model}
	for _, t := range a.Tools {
		if t.Type != "function" || t.Strict == nil {
			return r, fmt.Errorf("tool %s is %q, strict %v", t.Name, t.Type, t.Strict)
		}
		r.Tools = append(r.Tools, t.Name)
	}
	if a.Instructions != "" {
		r.Items = append(r.Items, Item{Kind: "system", Text: a.Instructions})
	}
	thought := false // a reasoning item must be followed by what it led to
	for i, raw := range a.Input {
		var s responsesItem
		if err := strictly(raw, &s); err != nil {
			return r, fmt.Errorf("input[%d]: %w", i, err)
		}
		if thought && s.Type != "reasoning" && s.Type != "function_call" && s.Role != "assistant" {
			return r, fmt.Errorf("input[%d]: a reasoning item without its following item", i-1)
		}
		thought = s.Type == "reasoning"
		if err := responsesPlace(&r, s); err != nil {
			return r, fmt.Errorf("input[%d]: %w", i, err)
		}
	}
	if thought {
		return r, fmt.Errorf("a reasoning item at the end")
	}
	return r, nil
}

// responsesPlace adds an input item to what the suite knows; items of the assistant that stand
// together are one.
func responsesPlace(r *Request, s responsesItem) error {
	last := func() *Item {
		if n := len(r.Items); n == 0 || r.Items[n-1].Kind != "assistant" {
			r.Items = append(r.Items, Item{Kind: "assistant"})
		}
		return &r.Items[len(r.Items)-1]
	}
	text, images := "", 0
	for _, p := range s.Content {
		switch {
		case p.Type == "input_text" && s.Role == "user", p.Type == "output_text" && s.Role == "assistant":
			text += p.Text
		case p.Type == "input_image" && p.ImageURL != "" && s.Role == "user", p.Type == "input_file" && p.FileData != "":
			images++
		default:
			return fmt.Errorf("bad part %+v of %s", p, s.Role)
		}
	}
	word := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	switch {
	case s.Type == "message" && s.Role == "user" && len(s.Content) > 0:
		r.Items = append(r.Items, Item{Kind: "user", Text: text, Images: images})
	case s.Type == "message" && s.Role == "assistant" && text != "":
		last().Text += text
	case s.Type == "reasoning" && s.ID != "" && s.Encrypted != "":
		last().Thinking++
	case s.Type == "function_call" && word.MatchString(s.Name) && s.CallID != "" && len(s.CallID) <= 64 && s.ID == "":
		last().Calls = append(last().Calls, Call{ID: s.CallID, Name: s.Name, Arguments: s.Arguments})
	case s.Type == "function_call_output" && len(s.Output) > 0:
		r.Items = append(r.Items, Item{Kind: "result", CallID: s.CallID})
	default:
		return fmt.Errorf("bad item %+v", s)
	}
	return nil
}
