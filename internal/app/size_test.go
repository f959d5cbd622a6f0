package app_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// taped keeps the bodies of the requests to one path before it passes them on.
func taped(next http.Handler, path string, bodies *[][]byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, path) {
			body, _ := io.ReadAll(r.Body) // a body that breaks off fails the handler behind
			*bodies = append(*bodies, body)
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		next.ServeHTTP(w, r)
	})
}

// The first request of a session, whole: system prompt, tools, and two letters of a prompt. Its size is what a
// person pays for each question, and what a local model reads before its first word.
func TestTheFirstRequestIsSmall(t *testing.T) {
	var full, local [][]byte
	u := newUser(t)
	s := u.serve(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"yes\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	})
	s.Config.Handler = taped(s.Config.Handler, "/chat/completions", &full)
	u.run("-p", "--model", "openai/m", "hi").wants(0, "yes")

	llama := newLlama(t)
	llama.Config.Handler = taped(llama.Config.Handler, "/api/chat", &local)
	u.env = append(u.env, "OLLAMA_HOST="+strings.TrimPrefix(llama.URL, "http://"))
	u.run("-p", "--model", "ollama/coder:7b", "--max-turns", "1", "hi")

	for name, c := range map[string]struct {
		bodies [][]byte
		most   int
	}{"full": {full, 18_000}, "local": {local, 6_000}} {
		if len(c.bodies) == 0 {
			t.Fatalf("%s: no request", name)
		}
		first := c.bodies[0]
		t.Logf("%s: %d bytes, %d tools", name, len(first), bytes.Count(first, []byte(`"parameters":`)))
		if len(first) > c.most {
			t.Errorf("%s: the first request has %d bytes, at most %d", name, len(first), c.most)
		}
		// Names that are understood but not offered cost nothing.
		for _, other := range []string{"read_file", "str_replace", "run_command", "file_path", "oldText"} {
			if bytes.Contains(first, []byte(other)) {
				t.Errorf("%s: %s is offered", name, other)
			}
		}
	}
}
