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

// llamas is a written Ollama with all four formats. As the real one does, it cuts prompts on the
// compatible ones at its default context in silence, after the time that reading them takes, and
// takes num_ctx on its own.
type llamas struct {
	*httptest.Server
	prefix  string      // of all paths, as behind a proxy
	instant bool        // the compatible formats answer at once
	plain   atomic.Bool // it has no format of its own
	poet    atomic.Bool // its model has no tools

	mu    sync.Mutex
	asked []string // paths of requests to a model that were answered
	texts []string // their bodies
}

const (
	defaultContext = 4096
	bytesOfToken   = 4
)

func newLlamas(t *testing.T, prefix string) *llamas {
	t.Helper()
	l := &llamas{prefix: prefix}
	mux := http.NewServeMux()
	text := func(path, body string) {
		mux.HandleFunc("GET "+prefix+path, func(w http.ResponseWriter, _ *http.Request) {
			if l.plain.Load() && strings.HasPrefix(path, "/api/") {
				http.NotFound(w, nil)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, body)
		})
	}
	text("/api/version", `{"version":"0.17.4"}`)
	text("/v1/models", `{"object":"list","data":[{"id":"qwen:7b","object":"model","created":1,"owned_by":"library"}]}`)
	mux.HandleFunc("POST "+prefix+"/api/show", l.show)
	mux.HandleFunc("POST "+prefix+"/api/chat", l.chat)
	for path, sent := range map[string]func(string, int) string{
		"/v1/chat/completions": func(text string, count int) string {
			return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":%q},\"finish_reason\":\"stop\"}]}\n\n"+
				"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":2,\"total_tokens\":9}}\n\ndata: [DONE]\n\n", text, count)
		},
		"/v1/responses": func(text string, count int) string {
			return fmt.Sprintf("data: {\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"output_index\":0,\"delta\":%q}\n\n"+
				"data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"usage\":{\"input_tokens\":%d,\"output_tokens\":2}}}\n\n", text, count)
		},
		"/v1/messages": func(text string, count int) string {
			return fmt.Sprintf("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"x\",\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":%d,\"output_tokens\":0}}}\n\n"+
				"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"+
				"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":%q}}\n\n"+
				"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"+
				"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"input_tokens\":%d,\"output_tokens\":2}}\n\n"+
				"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", count, text, count)
		},
	} {
		mux.HandleFunc("POST "+prefix+path, func(w http.ResponseWriter, r *http.Request) { l.compatible(w, r, sent) })
	}
	l.Server = httptest.NewServer(mux)
	t.Cleanup(l.Close)
	return l
}

func (l *llamas) has(w http.ResponseWriter, model string) bool {
	if model != "qwen:7b" {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"error":"model '%s' not found"}`, model)
		return false
	}
	return true
}

func (l *llamas) show(w http.ResponseWriter, r *http.Request) {
	var body struct{ Model string }
	_ = json.NewDecoder(r.Body).Decode(&body) // what is no JSON names no model
	if l.plain.Load() {
		http.NotFound(w, r)
		return
	}
	if l.has(w, body.Model) {
		io.WriteString(w, `{"capabilities":["completion","tools"],"model_info":{"qwen2.context_length":32768}}`)
	}
}

// chat is its own format, which refuses what does not fit.
func (l *llamas) chat(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body) // what is cut does not decode
	var body struct {
		Model    string
		Truncate *bool
		Options  struct {
			Context int `json:"num_ctx"`
		}
	}
	if json.Unmarshal(raw, &body) != nil || !l.has(w, body.Model) {
		return
	}
	count := len(raw) / bytesOfToken
	if count > body.Options.Context {
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"error":"the input length exceeds the context length"}`)
		return
	}
	l.note(r, raw)
	if l.poet.Load() {
		poet(w, raw)
		return
	}
	fmt.Fprintf(w, `{"message":{"role":"assistant","content":"fine"},"done":false}`+"\n"+
		`{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":%d,"eval_count":2}`+"\n", count)
}

// compatible is a format that cuts.
func (l *llamas) compatible(w http.ResponseWriter, r *http.Request, sent func(string, int) string) {
	raw, _ := io.ReadAll(r.Body) // what is cut names no model
	var body struct{ Model string }
	_ = json.Unmarshal(raw, &body)
	if !l.has(w, body.Model) {
		return
	}
	if !l.instant && !l.plain.Load() { // reading a prompt takes its time; who leaves meanwhile gets nothing
		<-r.Context().Done()
		return
	}
	l.note(r, raw)
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, sent("cut", min(len(raw)/bytesOfToken, defaultContext)))
}

func (l *llamas) note(r *http.Request, raw []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked, l.texts = append(l.asked, strings.TrimPrefix(r.URL.Path, l.prefix)), append(l.texts, string(raw))
}

func (l *llamas) answered() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.asked)
}

// at is the environment of a user who uses the server through compatible formats.
func (l *llamas) at() []string {
	return []string{"OPENAI_BASE_URL=" + l.URL + l.prefix + "/v1", "ANTHROPIC_BASE_URL=" + l.URL + l.prefix}
}

func TestAnOllamaIsRecognisedBehindAnyAddress(t *testing.T) {
	for _, prefix := range []string{"", "/gateway/ollama", "/models/here"} {
		for _, model := range []string{"openai", "responses", "anthropic"} {
			t.Run(model+prefix, func(t *testing.T) {
				t.Parallel()
				u := newUser(t)
				l := newLlamas(t, prefix)
				u.env = append(u.env, l.at()...)
				r := u.runWith(strings.NewReader(strings.Repeat("word ", 6000)), "-p", "--output-format", "stream-json", "--model", model+"/qwen:7b", "what is this?").wants(0, "fine")
				if got := l.answered(); !slices.Equal(got, []string{"/api/chat"}) {
					t.Errorf("asked %v", got)
				}
				if first := r.lines()[0]; first["provider"] != model || !strings.Contains(r.out, "Ollama 0.17.4 answers at "+l.URL+prefix+": it is asked in its own format") {
					t.Errorf("%s", r.out)
				}
			})
		}
	}
}

// An address without its version works with an Ollama, too; a model that it lacks is named with
// what it has.
func TestWhatIsWrongAtAnOllamaIsTold(t *testing.T) {
	u := newUser(t)
	l := newLlamas(t, "")
	u.env = append(u.env, "OPENAI_BASE_URL="+l.URL)
	u.run("-p", "--model", "openai/qwen:7b", "hi").wants(0, "fine")
	for _, model := range []string{"openai/none", "anthropic/none"} {
		u.env = append(u.env, l.at()...)
		u.run("-p", "--model", model, "hi").wants(3, "model 'none' not found", "hint: get it with: ollama pull none")
	}
}

// A server that cuts in silence and is no Ollama that could be asked otherwise ends the run, on
// every format.
func TestACutPromptEndsTheRun(t *testing.T) {
	for _, model := range []string{"openai", "responses", "anthropic"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			l := newLlamas(t, "")
			l.plain.Store(true)
			u.env = append(u.env, l.at()...)
			u.runWith(strings.NewReader(strings.Repeat("word ", 6000)), "-p", "--model", model+"/qwen:7b", "what is this?").
				wants(5, "read only 4096 tokens of the prompt", "hint: give the server a larger context")
			if len(l.answered()) > 2 { // the prompt, and a summary at most
				t.Errorf("asked %v", l.answered())
			}
		})
	}
}

// A model without tools gets them as text, on every format; what it writes in their form runs with
// the same checks.
func TestAModelWithoutToolsGetsThemAsText(t *testing.T) {
	for _, model := range []string{"ollama", "openai", "anthropic"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.file("a.txt", "the secret word is plover\n")
			l := newLlamas(t, "")
			l.poet.Store(true)
			u.env = append(append(u.env, l.at()...), "OLLAMA_HOST="+l.URL)
			r := u.run("-p", "--output-format", "stream-json", "--model", model+"/qwen:7b", "what is the word?").wants(0, "takes no tools", "it is plover")
			if got := r.ends(); len(got) != 1 || got[0] != "read completed" || !strings.Contains(r.out, `"origin":"text"`) {
				t.Errorf("%q\n%s", got, r.out)
			}
		})
	}
}

// A poet says what a model without tools would, and refuses a request that has any.
func poet(w http.ResponseWriter, raw []byte) {
	var body struct {
		Tools    []any
		Messages []struct{ Role, Content string }
	}
	_ = json.Unmarshal(raw, &body) // read before
	if len(body.Tools) > 0 {
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"error":"registry.ollama.ai/library/qwen:7b does not support tools"}`)
		return
	}
	text := "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}\n</tool_call>"
	if last := body.Messages[len(body.Messages)-1]; strings.Contains(last.Content, "<tool_response") && strings.Contains(last.Content, "plover") {
		text = "it is plover"
	}
	piece, _ := json.Marshal(text) // a string
	fmt.Fprintf(w, `{"message":{"role":"assistant","content":%s},"done":false}`+"\n"+
		`{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":%d,"eval_count":2}`+"\n", piece, len(raw)/bytesOfToken)
}

// An empty list of tools is none: the request has no field for them, and no text about them either.
func TestNoToolsAtAll(t *testing.T) {
	u := newUser(t)
	l := newLlamas(t, "")
	u.env = append(u.env, "OLLAMA_HOST="+l.URL)
	r := u.run("-p", "--output-format", "stream-json", "--tools", "", "--model", "ollama/qwen:7b", "hi").wants(0, "fine")
	if tools := r.lines()[0]["tools"].([]any); len(tools) != 0 || strings.Contains(l.texts[0], `"tools"`) || strings.Contains(l.texts[0], "<tool_call>") {
		t.Errorf("%v are offered: %s", tools, l.texts[0])
	}
}
