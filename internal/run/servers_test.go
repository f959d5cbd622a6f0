package run_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// turns is how many model requests with calls a session of these tests takes.
const turns = 20

// spelling is one of the ways in which servers write arguments; the n-th call of a session uses the
// n-th.
func spelling(n int) string { return []string{"whole", "fragments", "empty", "object"}[n%4] }

// chatCall writes the n-th call as Chat Completions chunks. Each read differs: the same one again
// and again is a loop.
func chatCall(w io.Writer, n int) {
	chunk := func(delta string) { fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", delta) }
	head := fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_%d","type":"function","function":`, n)
	switch spelling(n) {
	case "fragments":
		chunk(head + `{"name":"read","arguments":""}}]}`)
		for _, piece := range []string{`{\"pa`, `th\":\"a.t`, fmt.Sprintf(`xt\",\"limit\":%d}`, n+1)} {
			chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"` + piece + `"}}]}`)
		}
	case "empty":
		chunk(head + `{"name":"list","arguments":""}}]}`)
	case "object":
		chunk(head + `{"name":"read","arguments":{"path":"a.txt","limit":` + fmt.Sprint(n+1) + `}}}]}`)
	default:
		chunk(head + `{"name":"read","arguments":"{\"path\":\"a.txt\",\"limit\":` + fmt.Sprint(n+1) + `}"}}]}`)
	}
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n")
}

// wantIDs checks that every call id stays the same from start to outcome, and that no call is lost.
func wantIDs(t *testing.T, r ran, calls int) {
	t.Helper()
	var started, ended []string
	for _, l := range r.lines() {
		switch l["type"] {
		case "tool_start":
			started = append(started, fmt.Sprint(l["call"]))
		case "tool_end":
			ended = append(ended, fmt.Sprint(l["call"]))
			if l["status"] != "completed" {
				t.Errorf("call %v: %v %v", l["call"], l["status"], l["code"])
			}
		}
	}
	if !slices.Equal(started, ended) || len(ended) != calls {
		t.Errorf("started %v\nended   %v\nwant %d the same", started, ended, calls)
	}
	unique := slices.Clone(ended)
	slices.Sort(unique)
	if len(slices.Compact(unique)) != len(ended) {
		t.Errorf("ids repeat: %v", ended)
	}
}

func TestTwentyTurnsWithACompatibleServer(t *testing.T) {
	u := newUser(t)
	u.file("a.txt", "hello\n")
	var requests atomic.Int64
	u.serve(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Messages []struct {
				Role   string `json:"role"`
				CallID string `json:"tool_call_id"`
			} `json:"messages"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		requests.Add(1)
		results := 0
		for _, m := range body.Messages {
			if m.Role != "tool" {
				continue
			}
			if want := fmt.Sprintf("call_%d", results); m.CallID != want {
				http.Error(w, `{"error":{"message":"result `+m.CallID+` answers no call"}}`, 400)
				return
			}
			results++
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if results < turns {
			chatCall(w, results)
			return
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"twenty\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	})
	r := u.run("-p", "--output-format", "stream-json", "--model", "openai/m", "go").wants(0)
	wantIDs(t, r, turns)
	if got := r.result()["text"]; got != "twenty" || requests.Load() != turns+1 {
		t.Errorf("text %v after %d requests", got, requests.Load())
	}
}

// llama is a written Ollama: two models, of which one can call tools.
type llama struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []map[string]any
	first  []byte // the first request as it came
}

// showModel tells as Ollama does that models named coder can call tools.
func showModel(w http.ResponseWriter, r *http.Request) {
	var body struct{ Model, Name string }
	json.NewDecoder(r.Body).Decode(&body)
	can := `["completion"]`
	if strings.HasPrefix(body.Model+body.Name, "coder") {
		can = `["completion","tools"]`
	}
	fmt.Fprintf(w, `{"capabilities":%s,"model_info":{"general.architecture":"q","q.context_length":32768}}`, can)
}

func newLlama(t *testing.T) *llama {
	t.Helper()
	l := &llama{}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/tags", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"models":[{"name":"poet:latest","size":1},{"name":"coder:7b","size":2}]}`)
	})
	mux.HandleFunc("/api/ps", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"models":[]}`) })
	mux.HandleFunc("/api/show", showModel)
	mux.HandleFunc("/api/chat", l.chat)
	l.Server = httptest.NewServer(mux)
	t.Cleanup(l.Close)
	return l
}

func (l *llama) chat(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body) // a body that breaks off does not decode
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		http.Error(w, err.Error(), 400)
		return
	}
	l.mu.Lock()
	if l.first == nil {
		l.first = raw
	}
	l.bodies = append(l.bodies, body)
	l.mu.Unlock()
	results := 0
	for _, m := range body["messages"].([]any) {
		if m.(map[string]any)["role"] == "tool" {
			results++
		}
	}
	line := func(message string) { fmt.Fprintf(w, `{"model":"m","message":%s,"done":false}`+"\n", message) }
	switch {
	case results >= turns:
		line(`{"role":"assistant","content":"twenty"}`)
	case spelling(results) == "empty":
		line(`{"role":"assistant","content":"","tool_calls":[{"function":{"name":"list","arguments":{}}}]}`)
	default:
		line(`{"role":"assistant","content":"","tool_calls":[{"function":{"name":"read","arguments":{"path":"a.txt","limit":` + fmt.Sprint(results+1) + `}}}]}`)
	}
	// Ollama says stop although there are calls.
	io.WriteString(w, `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":900,"eval_count":9}`+"\n")
}

func TestTwentyTurnsWithOllama(t *testing.T) {
	u := newUser(t)
	u.file("a.txt", "hello\n")
	server := newLlama(t)
	u.env = append(u.env, "OLLAMA_HOST="+strings.TrimPrefix(server.URL, "http://"))
	// No model is named: the one that can call tools is found.
	r := u.run("-p", "--output-format", "stream-json", "go").wants(0)
	wantIDs(t, r, turns)
	first := r.lines()[0]
	if first["provider"] != "ollama" || first["model"] != "coder:7b" {
		t.Errorf("chose %v/%v", first["provider"], first["model"])
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	if len(server.bodies) != turns+1 {
		t.Errorf("%d requests, want %d", len(server.bodies), turns+1)
	}
	options, _ := server.bodies[0]["options"].(map[string]any)
	if n, _ := options["num_ctx"].(float64); n < 2048 || n > 32768 {
		t.Errorf("num_ctx = %v", options["num_ctx"])
	}
}

func TestAnOllamaWithoutTheModel(t *testing.T) {
	u := newUser(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(404)
		io.WriteString(w, `{"error":"model \"none\" not found, try pulling it first"}`)
	}))
	t.Cleanup(s.Close)
	u.env = append(u.env, "OLLAMA_HOST="+s.URL)
	r := u.run("-p", "--output-format", "json", "--model", "ollama/none", "hi").wants(3)
	if got := r.result(); got["cause"] != "no_model" || got["hint"] == "" {
		t.Errorf("result = %v", got)
	}
}
