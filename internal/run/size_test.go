package run_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"adze/internal/testkit/effort"
)

// The first request of a session, whole: system prompt, tools, and two letters of a prompt. Its
// size is what a user pays for each question, and what a local model reads before its first word.
func TestTheFirstRequestIsSmall(t *testing.T) {
	bodies := make(chan []byte, 8)
	u := newUser(t)
	repository := newUser(t)
	answer := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // one that breaks off has the wrong size
		bodies <- body
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"yes\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}
	u.serve(answer)
	u.run("-p", "--model", "openai/m", "hi").wants(0, "yes")
	repository.serve(answer)
	repository.file(".git/HEAD", "ref: refs/heads/main\n")
	repository.run("-p", "--model", "openai/m", "hi").wants(0, "yes")

	llama := newLlama(t)
	u.env = append(u.env, "OLLAMA_HOST="+strings.TrimPrefix(llama.URL, "http://"))
	u.run("-p", "--model", "ollama/coder:7b", "--max-turns", "1", "hi")
	llama.mu.Lock()
	defer llama.mu.Unlock()

	for name, c := range map[string]struct {
		first []byte
		most  int
	}{"full": {<-bodies, 6_500}, "full in a repository": {<-bodies, 6_500}, "local": {llama.first, 4_500}} {
		first := c.first
		if len(first) == 0 {
			t.Fatalf("%s: no request", name)
		}
		t.Logf("%s: %d bytes, %d tools", name, len(first), bytes.Count(first, []byte(`"parameters":`)))
		if len(first) > c.most {
			t.Errorf("%s: the first request has %d bytes, at most %d", name, len(first), c.most)
		}
		// Each tool is offered by one name: small models know those of wrappers, and what else is
		// understood costs nothing.
		none, offered := []string{"read_file", "str_replace", "file_path", "oldText"}, []string{`"bash"`, `"grep"`}
		wrappers := []string{`"run_command"`, `"search_text"`}
		if name == "local" {
			offered, wrappers = wrappers, offered
		}
		for _, other := range append(none, wrappers...) {
			if bytes.Contains(first, []byte(other)) {
				t.Errorf("%s: %s is offered", name, other)
			}
		}
		for _, word := range offered {
			if !bytes.Contains(first, []byte(word)) {
				t.Errorf("%s: %s is not offered", name, word)
			}
		}
	}
}

// Small models of other servers get the same few bytes, unless the user wants all.
func TestTheLocalProfileIsSmallEverywhere(t *testing.T) {
	effort.Needs(t, effort.Short, "it runs the program in many places")
	for _, c := range []struct {
		model, env, config string
		answers            map[string]string
		least, most        int
	}{
		{"llamacpp/qwen.gguf", "LLAMACPP_BASE_URL", `{}`, llamaCPP(), 3_000, 4_500},
		{"lmstudio/warm", "LMSTUDIO_BASE_URL", `{}`, lmStudio(), 3_000, 4_500},
		{"vllm/big", "VLLM_BASE_URL", `{}`, vLLM(), 5_000, 6_500},
		{"vllm/big", "VLLM_BASE_URL", `{"providers": {"vllm": {"profile": "local"}}}`, vLLM(), 3_000, 4_500},
		{"lmstudio/warm", "LMSTUDIO_BASE_URL", `{"providers": {"lmstudio": {"profile": "full"}}}`, lmStudio(), 5_000, 6_500},
	} {
		u := newUser(t)
		n := newNear(t, c.answers)
		u.env = append(u.env, c.env+"="+n.URL+"/v1")
		u.configure(c.config)
		u.run("-p", "--model", c.model, "hi").wants(0, "by chat")
		if len(n.asked()) != 1 {
			t.Fatalf("%s: %d requests", c.model, len(n.asked()))
		}
		first, small := n.asked()[0], c.most <= 4_500
		t.Logf("%s %s: %d bytes, %d tools", c.model, c.config, len(first), strings.Count(first, `"parameters":`))
		if len(first) < c.least || len(first) > c.most {
			t.Errorf("%s %s: the first request has %d bytes, want %d to %d", c.model, c.config, len(first), c.least, c.most)
		}
		if strings.Contains(first, `"task_complete"`) != small || strings.Contains(first, "Do this, step by step") != small {
			t.Errorf("%s %s: the prompt or the tools are those of the other profile", c.model, c.config)
		}
	}
}

// The local profile has room for what the prompt is about.
func TestTheLocalProfileOffersWhatThePromptNeeds(t *testing.T) {
	for prompt, want := range map[string][]string{
		"show me git status and the diff":        {"git_status"},
		"which processes are running?":           {"list_processes"},
		"fetch https://go.dev/doc and sum it up": {"download_url"},
		"list the files in internal/run":         {"list_files"},
		"make a todo list for this refactoring":  {"todowrite"},
	} {
		u := newUser(t)
		llama := newLlama(t)
		u.env = append(u.env, "OLLAMA_HOST="+strings.TrimPrefix(llama.URL, "http://"))
		u.run("-p", "--model", "ollama/coder:7b", "--max-turns", "1", prompt)
		llama.mu.Lock()
		first := llama.first
		llama.mu.Unlock()
		for _, name := range append(want, "read", "edit", "run_command", "search_text") {
			if !bytes.Contains(first, []byte(`"name":"`+name+`"`)) {
				t.Errorf("%q: %s is not offered", prompt, name)
			}
		}
		if t.Logf("%q: %d bytes", prompt, len(first)); len(first) > 5_900 {
			t.Errorf("%q: the first request has %d bytes", prompt, len(first))
		}
	}
}

// A tool that nobody needs before its occasion comes with it, behind those that were there, so that
// the requests go on beginning alike; and what the first prompt names is there at once.
func TestRareToolsComeWithTheirOccasion(t *testing.T) {
	calls := []string{
		`{"name":"bash","arguments":"{\"command\":\"sleep 60\",\"background\":true}"}`,
		`{"name":"todowrite","arguments":"{\"todos\":[{\"content\":\"a\",\"status\":\"pending\"}]}"}`,
		`{"name":"git_status","arguments":"{}"}`, // not shown, and taken all the same
	}
	var bodies []string
	var mu sync.Mutex
	u := newUser(t)
	u.serve(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		bodies = append(bodies, string(body))
		delta := `{"content":"done"}`
		if n := len(bodies); n <= len(calls) {
			delta = fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"c%d","type":"function","function":%s}]}`, n, calls[n-1])
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", delta)
	})
	shown := func(body string) (names []string) {
		var request struct {
			Tools []struct{ Function struct{ Name string } }
		}
		if err := json.Unmarshal([]byte(body), &request); err != nil {
			t.Fatal(err)
		}
		for _, tool := range request.Tools {
			names = append(names, tool.Function.Name)
		}
		return names
	}
	u.run("-p", "--permission-mode", "yolo", "--model", "openai/m", "hi").wants(0, "done")
	mu.Lock()
	defer mu.Unlock()
	if len(bodies) != 4 {
		t.Fatalf("%d requests", len(bodies))
	}
	had := shown(bodies[0])
	for n, more := range [][]string{nil, {"bash_output", "bash_kill", "list_processes"}, {"todowrite", "todoread"}, {"git_status"}} {
		had = append(had, more...)
		if got := shown(bodies[n]); !slices.Equal(got, had) {
			t.Errorf("request %d shows %v, want %v", n+1, got, had)
		}
		for _, rare := range []string{"bash_output", "bash_kill", "list_processes", "todowrite", "todoread", "webfetch", "task", "git_status", "plan"} {
			if n == 0 && slices.Contains(had, rare) {
				t.Errorf("%s is shown before anybody needs it", rare)
			}
		}
	}
	for prompt, want := range map[string]string{"which processes eat memory?": "list_processes", "sum up https://example.com/a": "webfetch", "Plan the move to a newer parser.": "plan"} {
		bodies = nil
		mu.Unlock()
		u.run("-p", "--permission-mode", "yolo", "--max-turns", "1", "--model", "openai/m", prompt)
		mu.Lock()
		if got := shown(bodies[0]); !slices.Contains(got, want) {
			t.Errorf("%q: %s is not among %v", prompt, want, got)
		}
	}
	bodies = nil
	mu.Unlock()
	u.run("-p", "--permission-mode", "plan", "--max-turns", "1", "--model", "openai/m", "hi")
	mu.Lock()
	if got := shown(bodies[0]); !slices.Contains(got, "plan") {
		t.Errorf("in the mode plan there is no plan among %v", got)
	}
}
