package gemini_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"net/http"
	"regexp"
	"testing"

	"adze/internal/llm/gemini"
	"adze/internal/llm/llmtest"
	"adze/internal/llm/wire"
	"adze/session"
)

var update = flag.Bool("update", false, "rewrite the wants of testdata/stream/gemini")

func TestConformance(t *testing.T) { llmtest.Run(t, format{}) }

// Gemini 3 takes media inside results, and refuses a call without its signature.
func TestConformanceOfGemini3(t *testing.T) { llmtest.Run(t, format{third: true}) }

func TestCases(t *testing.T) {
	llmtest.Cases(t, format{}, "../../../testdata/stream/gemini", *update)
}

func FuzzStream(f *testing.F) { llmtest.Fuzz(f, format{}, "../../../testdata/stream/gemini") }

func BenchmarkStream(b *testing.B) { llmtest.Benchmark(b, format{}) }

// format is generateContent as the suite sees it.
type format struct{ third bool }

func (f format) New(o llmtest.Options) session.Provider {
	p := gemini.New(gemini.Options{BaseURL: o.BaseURL, Key: o.Key, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle})
	if f.third {
		return renamed{p}
	}
	return p
}

// renamed asks for a model of the third generation, whatever the suite names.
type renamed struct{ *gemini.Provider }

func (r renamed) Stream(ctx context.Context, q session.Request) iter.Seq[session.Chunk] {
	q.Model = "gemini-3-pro-preview"
	return r.Provider.Stream(ctx, q)
}

func (format) Encode(a llmtest.Answer) llmtest.Stream {
	b := &llmtest.Builder{ContentType: "text/event-stream"}
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

func (format) Ping() string      { return ": ping\n\n" }
func (format) Malformed() string { return "data: {\"candidates\":[{\"content\":{\"par\n\n" }

func (format) Failure(message string) string {
	return fmt.Sprintf(`data: {"error":{"code":500,"message":%q,"status":"INTERNAL"}}`+"\n\n", message)
}

func (format) Refusal(kind, message string) string {
	return fmt.Sprintf(`[{"error":{"message":%q,"status":%q,"details":[]}}]`, message, kind)
}

func (format) Side(http.ResponseWriter, *http.Request) bool { return false }

func (format) Grown(body []byte) []byte { return bytes.TrimSuffix(body, []byte("]}]}")) }

// asked is a request, strictly: an unknown field is refused, as Google's server does.
type asked struct {
	Config struct {
		MaxTokens int `json:"maxOutputTokens"`
		Thinking  *struct {
			Include bool `json:"includeThoughts"`
		} `json:"thinkingConfig"`
	} `json:"generationConfig"`
	System *struct {
		Parts []sentPart `json:"parts"`
	} `json:"systemInstruction"`
	Tools []struct {
		Functions []struct {
			Name        string         `json:"name"`
			Description string         `json:"description"`
			Parameters  map[string]any `json:"parameters"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Contents []struct {
		Role  string     `json:"role"`
		Parts []sentPart `json:"parts"`
	} `json:"contents"`
}

type sentPart struct {
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
		Parts    []sentPart     `json:"parts"`
	} `json:"functionResponse"`
	Data *struct {
		MediaType string `json:"mimeType"`
		Data      []byte `json:"data"`
	} `json:"inlineData"`
}

func (f format) Decode(body []byte) (llmtest.Request, error) {
	var a asked
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return llmtest.Request{}, err
	}
	var r llmtest.Request
	for _, t := range a.Tools {
		for _, f := range t.Functions {
			if f.Parameters != nil && f.Parameters["properties"] == nil {
				return r, fmt.Errorf("%s: properties should be non-empty for an object", f.Name)
			}
			r.Tools = append(r.Tools, f.Name)
		}
	}
	if a.System != nil {
		r.Items = append(r.Items, llmtest.Item{Kind: "system", Text: *a.System.Parts[0].Text})
	}
	s := &seen{Request: &r, third: f.third}
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

// seen gives calls without an id one, because results are matched by their order then.
type seen struct {
	*llmtest.Request
	third bool
	open  []llmtest.Call
	n     int
}

func (s *seen) content(role string, parts []sentPart) error {
	item := llmtest.Item{Kind: map[string]string{"user": "user", "model": "assistant"}[role]}
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
			c := llmtest.Call{ID: p.Call.ID, Name: p.Call.Name, Arguments: string(p.Call.Args)}
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

func (s *seen) result(role string, p sentPart) error {
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
	s.Items = append(s.Items, llmtest.Item{Kind: "result", CallID: c.ID, Failed: failed, Images: len(p.Response.Parts)})
	return nil
}
