package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"adze/internal/llm/wire"
)

// Gemini is the format generateContent as the suite sees it.
type Gemini struct {
	modelsOnly
	// Third is a model since Gemini 3, which takes media inside results and refuses a call without
	// its signature.
	Third bool
}

// Encode writes an answer as the server does.
func (Gemini) Encode(a Answer) Stream {
	b := &Builder{ContentType: "text/event-stream"}
	chunk := func(parts, rest string) {
		b.Record(fmt.Sprintf(`data: {"candidates":[{"content":{"parts":[%s],"role":"model"}%s,"index":0}],"usageMetadata":{"promptTokenCount":%d,"candidatesTokenCount":%d,"totalTokenCount":%d},"modelVersion":"m","responseId":"r1"}`+"\n\n",
			parts, rest, a.Usage.Input, a.Usage.Output, a.Usage.Input+a.Usage.Output))
	}
	for _, piece := range a.Pieces(a.Reasoning) {
		chunk(fmt.Sprintf(`{"text":%s,"thought":true}`, wire.JSON(piece)), "")
	}
	for _, piece := range a.Pieces(a.Text) {
		chunk(fmt.Sprintf(`{"text":%s}`, wire.JSON(piece)), "")
	}
	for i, c := range a.Calls {
		signature := ""
		if i == 0 {
			signature = fmt.Sprintf(`,"thoughtSignature":"c2ln%d"`, len(a.Text))
		}
		chunk(fmt.Sprintf(`{"functionCall":{"name":%q,"args":%s,"id":%q}%s}`, c.Name, c.Arguments, c.ID, signature), "")
	}
	reason := "STOP" // also when there are calls
	if a.Length {
		reason = "MAX_TOKENS"
	}
	b.End()
	last := `{"text":""}`
	if len(a.Calls) == 0 {
		last = `{"text":"","thoughtSignature":"dGV4dA=="}`
	}
	chunk(last, fmt.Sprintf(`,"finishReason":%q`, reason))
	return b.Stream()
}

// Ping is a record without content.
func (Gemini) Ping() string { return ": ping\n\n" }

// Unknown are records that say nothing about the answer.
func (Gemini) Unknown() []string {
	return []string{
		`data: {"responseId":"r1","x":1}` + "\n\n", `data: {"candidates":[]}` + "\n\n", `data: {"candidates":null,"promptFeedback":null}` + "\n\n",
		`data: {"candidates":[{"index":1.0,"content":{"parts":[{"text":"no"}]},"finishReason":"STOP"}]}` + "\n\n",
		`data: {"candidates":[{"content":{"parts":[{"executableCode":{"language":"PYTHON","code":"1"}},{"inlineData":null}]},"finishReason":""}]}` + "\n\n",
		`data: {"promptFeedback":{"safetyRatings":[]},"candidates":[{"content":{},"safetyRatings":[{"blocked":false}]}]}` + "\n\n",
	}
}

// Malformed is a damaged record.
func (Gemini) Malformed() string { return "data: {\"candidates\":[{\"content\":{\"par\n\n" }

// Failure is an error object in a stream.
func (Gemini) Failure(message string) string {
	return fmt.Sprintf(`data: {"error":{"code":500,"message":%q,"status":"INTERNAL"}}`+"\n\n", message)
}

// Refusal is the body of a failed request.
func (Gemini) Refusal(kind, message string) string {
	return fmt.Sprintf(`[{"error":{"message":%q,"status":%q,"details":[]}}]`, message, kind)
}

// Grown removes what may grow.
func (Gemini) Grown(body []byte) []byte { return bytes.TrimSuffix(body, []byte("]}]}")) }

// geminiAsked is a request, strictly: an unknown field is refused, as Google's server does.
type geminiAsked struct {
	Config struct {
		MaxTokens int `json:"maxOutputTokens"`
		Thinking  *struct {
			Include bool `json:"includeThoughts"`
		} `json:"thinkingConfig"`
	} `json:"generationConfig"`
	System *struct {
		Parts []geminiPart `json:"parts"`
	} `json:"systemInstruction"`
	Tools []struct {
		Functions []struct {
			Name        string         `json:"name"`
			Description string         `json:"description"`
			Parameters  map[string]any `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Contents []struct {
		Role  string       `json:"role"`
		Parts []geminiPart `json:"parts"`
	} `json:"contents"`
}

type geminiPart struct {
	Text      *string `json:"text"`
	Thought   bool    `json:"thought"`
	Signature string  `json:"thoughtSignature"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string         `json:"id"`
		Name     string         `json:"name"`
		Response map[string]any `json:"response"`
		Parts    []geminiPart   `json:"parts"`
	} `json:"functionResponse"`
	Data *struct {
		MediaType string `json:"mimeType"`
		Data      []byte `json:"data"`
	} `json:"inlineData"`
}

// Decode reads a request as strictly as the server.
func (f Gemini) Decode(body []byte) (Request, error) {
	var a geminiAsked
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return Request{}, err
	}
	var r Request
	for _, t := range a.Tools {
		for _, f := range t.Functions {
			if f.Parameters != nil && f.Parameters["properties"] == nil {
				return r, fmt.Errorf("%s: properties should be non-empty for an object", f.Name)
			}
			r.Tools = append(r.Tools, f.Name)
		}
	}
	if a.System != nil {
		r.Items = append(r.Items, Item{Kind: "system", Text: *a.System.Parts[0].Text})
	}
	s := &geminiSeen{Request: &r, third: f.Third}
	for i, c := range a.Contents {
		if i == 0 && c.Role != "user" || len(c.Parts) == 0 {
			return r, fmt.Errorf("contents[%d]: role %s with %d parts", i, c.Role, len(c.Parts))
		}
		if err := s.content(c.Role, c.Parts); err != nil {
			return r, fmt.Errorf("contents[%d]: %w", i, err)
		}
	}
	return r, nil
}

// geminiSeen gives calls without an id one, because results are matched by their order then.
type geminiSeen struct {
	*Request
	third bool
	open  []Call
	n     int
}

func (s *geminiSeen) content(role string, parts []geminiPart) error {
	item := Item{Kind: map[string]string{"user": "user", "model": "assistant"}[role]}
	results := 0
	for i, p := range parts {
		switch {
		case p.Response != nil:
			if err := s.result(role, p); err != nil {
				return fmt.Errorf("parts[%d]: %w", i, err)
			}
			results++
		case p.Thought && role == "model" && p.Signature != "":
			item.Thinking++
		case p.Text != nil && (*p.Text != "" || p.Signature != ""):
			item.Text += *p.Text
		case p.Call != nil && s.third && len(item.Calls) == 0 && p.Signature == "":
			return fmt.Errorf("parts[%d]: function call %s is missing a thought_signature", i, p.Call.Name)
		case p.Data != nil && role == "user" && len(p.Data.Data) > 0:
			item.Images++
		case p.Call != nil && role == "model" && regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$`).MatchString(p.Call.Name):
			c := Call{ID: p.Call.ID, Name: p.Call.Name, Arguments: string(p.Call.Args)}
			if s.n++; c.ID == "" {
				c.ID = fmt.Sprint("by order ", s.n)
			}
			s.open = append(s.open, c)
			item.Calls = append(item.Calls, c)
		default:
			return fmt.Errorf("parts[%d]: bad part %+v of %s", i, p, role)
		}
	}
	if results > 0 {
		if len(parts) != results || len(s.open) > 0 {
			return fmt.Errorf("the number of function response parts should equal the number of function call parts")
		}
		return nil
	}
	s.Items = append(s.Items, item)
	return nil
}

func (s *geminiSeen) result(role string, p geminiPart) error {
	if len(p.Response.Parts) > 0 && !s.third {
		return fmt.Errorf("media in a response to a model before Gemini 3")
	}
	if role != "user" || len(s.open) == 0 || len(p.Response.Response) != 1 {
		return fmt.Errorf("a response that is not expected: %+v", p.Response)
	}
	c := s.open[0]
	s.open = s.open[1:]
	if p.Response.Name != c.Name || p.Response.ID != "" && p.Response.ID != c.ID {
		return fmt.Errorf("a response for %s %s, the call is %s %s", p.Response.ID, p.Response.Name, c.ID, c.Name)
	}
	_, failed := p.Response.Response["error"]
	s.Items = append(s.Items, Item{Kind: "result", CallID: c.ID, Failed: failed, Images: len(p.Response.Parts)})
	return nil
}
