package run_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// answering is a written server of each format: it answers in prose where nothing holds it to a
// schema.
type answering struct {
	*httptest.Server
	refuses string // what it says of a request with a schema; if "", it takes one

	mu    sync.Mutex
	asked []string
}

func newAnswering(t *testing.T, refuses string) *answering {
	t.Helper()
	s := &answering{refuses: refuses}
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	t.Cleanup(s.Close)
	return s
}

// fields are where each format holds an answer to a schema.
func fields() []string {
	return []string{`"format":{"type":"object"`, `"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"`,
		`"text":{"format":{"type":"json_schema","name":"answer","schema":{"type":"object"`, `"responseJsonSchema":{"type":"object"`}
}

func (s *answering) answer(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		http.NotFound(w, r)
		return
	}
	raw, _ := io.ReadAll(r.Body) // a part of it has no schema
	if r.URL.Path == "/api/show" {
		io.WriteString(w, `{"capabilities":["completion","tools"],"model_info":{"q.context_length":32768}}`)
		return
	}
	held := false
	for _, f := range fields() {
		held = held || strings.Contains(string(raw), f)
	}
	s.mu.Lock()
	s.asked = append(s.asked, map[bool]string{true: "held", false: "free"}[held])
	again := len(s.asked) > 2
	s.mu.Unlock()
	if held && s.refuses != "" {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":%q}}`, s.refuses)
		return
	}
	text := `Her name is Ann.`
	if held || again {
		text = `{"name":"Ann"}`
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/api/chat"):
		fmt.Fprintf(w, `{"message":{"role":"assistant","content":%q},"done":false}`+"\n"+`{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}`+"\n", text)
	case strings.HasSuffix(r.URL.Path, "/responses"):
		fmt.Fprintf(w, "data: {\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"output_index\":0,\"delta\":%q}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n", text)
	case strings.Contains(r.URL.Path, ":streamGenerateContent"):
		fmt.Fprintf(w, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":%q}]},\"finishReason\":\"STOP\"}]}\n\n", text)
	default:
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", text)
	}
}

func (s *answering) user(t *testing.T) *user {
	u := newUser(t)
	u.env = append(u.env, "OLLAMA_HOST="+s.URL, "OPENAI_BASE_URL="+s.URL+"/v1", "GEMINI_BASE_URL="+s.URL, "GEMINI_API_KEY=k")
	return u
}

// The server's grammar holds the answer to the schema: at once where there are no tools, and where
// there are, when the model is asked for its answer alone. A server that refuses it is asked
// without.
func TestTheServersGrammarHoldsTheAnswer(t *testing.T) {
	const schema = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`
	refusal := map[string]string{
		"ollama": "invalid JSON schema in format", "openai": "Invalid schema for response_format 'answer'",
		"responses": "Invalid schema for text.format", "gemini": "Unknown name responseJsonSchema",
	}
	for model, refuses := range refusal {
		for name, c := range map[string]struct {
			args    []string
			refuses string
			asked   string
		}{
			"no tools":              {[]string{"--tools", ""}, "", "held"},
			"no tools, and refused": {[]string{"--tools", ""}, refuses, "held free free"},
			"tools":                 {nil, "", "free held"},
			"tools, and refused":    {nil, refuses, "free held free"},
		} {
			if model == "gemini" && c.args == nil {
				continue // it takes no schema beside tools
			}
			t.Run(model+", "+name, func(t *testing.T) {
				t.Parallel()
				s := newAnswering(t, c.refuses)
				u := s.user(t)
				file := u.file("schema.json", schema)
				args := append([]string{"-p", "--output-format", "json", "--output-schema", file, "--model", model + "/m"}, c.args...)
				u.run(append(args, "who?")...).wants(0, `"structured":{"name":"Ann"}`)
				if got := strings.Join(s.asked, " "); got != c.asked {
					t.Errorf("asked %s, want %s", got, c.asked)
				}
			})
		}
	}
}
