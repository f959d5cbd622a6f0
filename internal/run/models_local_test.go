package run_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// near is a written model server of this machine: what it answers to each GET, and the chats that
// it was asked.
type near struct {
	*httptest.Server
	mu    sync.Mutex
	gets  int
	chats []string
}

// asked is the chats so far; their connections may not be closed yet.
func (n *near) asked() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.chats)
}

// looked is how often it was asked what it has.
func (n *near) looked() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.gets
}

func newNear(t *testing.T, answers map[string]string) *near {
	t.Helper()
	n := &near{}
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n.mu.Lock()
		defer n.mu.Unlock()
		if r.Method == http.MethodPost {
			n.chats = append(n.chats, string(body))
			fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"by chat"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
			return
		}
		n.gets++
		answer, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, answer)
	}))
	t.Cleanup(n.Close)
	return n
}

// Answers of the three servers with one model of 16,384 tokens.
func llamaCPP() map[string]string {
	return map[string]string{
		"/v1/models": `{"data":[{"id":"qwen.gguf","owned_by":"llamacpp","meta":{"n_ctx_train":131072}}]}`,
		"/props":     `{"default_generation_settings":{"n_ctx":16384},"chat_template_caps":{"supports_tools":true}}`,
	}
}

func lmStudio() map[string]string {
	return map[string]string{"/api/v1/models": `{"models":[{"type":"llm","key":"cold","capabilities":{"trained_for_tool_use":true},"loaded_instances":[]},
		{"type":"llm","key":"warm","max_context_length":131072,"capabilities":{"trained_for_tool_use":true},"loaded_instances":[{"id":"warm","config":{"context_length":16384}}]}]}`}
}

func vLLM() map[string]string {
	return map[string]string{"/v1/models": `{"data":[{"id":"big","owned_by":"vllm","max_model_len":16384}]}`}
}

func TestAModelIsFoundOnThisMachine(t *testing.T) {
	page := map[string]string{"/v1/models": "<html>Welcome</html>", "/props": "<html>"}
	poet := map[string]string{"/v1/models": `{"data":[{"id":"poet"}]}`, "/props": `{"chat_template_caps":{"supports_tools":false}}`}
	for name, c := range map[string]struct {
		servers map[string]map[string]string // by name
		want    string
	}{
		"llama.cpp":                         {map[string]map[string]string{"LLAMACPP": llamaCPP()}, "llamacpp/qwen.gguf"},
		"LM Studio, and what it has loaded": {map[string]map[string]string{"LMSTUDIO": lmStudio()}, "lmstudio/warm"},
		"vLLM":                              {map[string]map[string]string{"VLLM": vLLM()}, "vllm/big"},
		"llama.cpp first":                   {map[string]map[string]string{"LLAMACPP": llamaCPP(), "LMSTUDIO": lmStudio(), "VLLM": vLLM()}, "llamacpp/qwen.gguf"},
		"another program on the port":       {map[string]map[string]string{"LLAMACPP": page, "VLLM": page, "LMSTUDIO": lmStudio()}, "lmstudio/warm"},
		"a list of another program":         {map[string]map[string]string{"VLLM": {"/v1/models": `{"data":[{"id":"x"}]}`}}, ""},
		"a model that cannot call tools":    {map[string]map[string]string{"LLAMACPP": poet}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.env = append(u.env, "ADZE_PATIENCE=1m") // no server here is slow; the machine may be
			for server, answers := range c.servers {
				u.env = append(u.env, server+"_BASE_URL="+newNear(t, answers).URL+"/v1")
			}
			l := u.models()
			r := u.run("-p", "--output-format", "stream-json", "hi")
			if c.want == "" {
				if r.wants(3, "no model is configured"); l.Default != nil {
					t.Errorf("adze models: %+v", l.Default)
				}
				return
			}
			first := r.wants(0, "by chat").lines()[0]
			if got := fmt.Sprint(first["provider"], "/", first["model"]); got != c.want || l.Default == nil || l.Default.Model != c.want {
				t.Errorf("chose %s, adze models says %+v, want %s", got, l.Default, c.want)
			}
		})
	}
}

// Who has named a model, or has a key, waits for nobody else's server.
func TestNoServerIsLookedForWithAModel(t *testing.T) {
	u := newUser(t)
	other := newNear(t, llamaCPP())
	u.env = append(u.env, "OLLAMA_HOST="+other.URL, "LLAMACPP_BASE_URL="+other.URL+"/v1", "LMSTUDIO_BASE_URL="+other.URL+"/v1", "VLLM_BASE_URL="+other.URL+"/v1")
	chosen := newNear(t, nil)
	u.env = append(u.env, "GEMINI_API_KEY=k", "GEMINI_BASE_URL=http://127.0.0.1:1", "OPENAI_BASE_URL="+chosen.URL+"/v1")
	u.run("-p", "--model", "openai/m", "hi").wants(0, "by chat")
	u.run("-p", u.script("-- 1 --\ntext: scripted\n"), "hi").wants(0, "scripted")
	u.run("doctor", "--offline").wants(0, "gemini/")
	if other.looked()+len(other.asked()) != 0 {
		t.Errorf("asked %d times, chatted %d times", other.looked(), len(other.asked()))
	}
}

// A prompt that is larger than the context that the server runs is not sent.
func TestAPromptThatDoesNotFitIsNotSent(t *testing.T) {
	for _, c := range []struct {
		model, env string
		answers    map[string]string
		hint       string
	}{
		{"llamacpp/qwen.gguf", "LLAMACPP_BASE_URL", llamaCPP(), "start llama-server with a larger -c"},
		{"lmstudio/warm", "LMSTUDIO_BASE_URL", lmStudio(), "load the model with a larger context in LM Studio"},
		{"vllm/big", "VLLM_BASE_URL", vLLM(), "start vLLM with a larger --max-model-len"},
	} {
		t.Run(c.model, func(t *testing.T) {
			u := newUser(t)
			n := newNear(t, c.answers)
			u.env = append(u.env, c.env+"="+n.URL+"/v1")
			u.runWith(strings.NewReader(strings.Repeat("word ", 40_000)), "-p", "--model", c.model, "what is this?").
				wants(5, "does not fit into the context of 16384 tokens", "hint: "+c.hint, "start a new session")
			if len(n.asked()) != 0 {
				t.Errorf("%d requests were sent", len(n.asked()))
			}
			u.run("-p", "--model", c.model, "hi").wants(0, "by chat")
			u.configure(`{"providers": {"llamacpp": {"max_context": 300}, "lmstudio": {"max_context": 300}, "vllm": {"max_context": 300}}}`)
			u.run("-p", "--model", c.model, "hi").wants(5, "300 tokens")
		})
	}
}
