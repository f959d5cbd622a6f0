package run_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// anyServer answers in the format that the path names and keeps what was asked.
type anyServer struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // "path key body"
}

func newAnyServer(t *testing.T) *anyServer {
	s := &anyServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // what it has, and how large
			w.WriteHeader(http.StatusNotFound)
			return
		}
		body, _ := io.ReadAll(r.Body)
		key := r.Header.Get("Authorization") + r.Header.Get("X-Goog-Api-Key")
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.Path+" "+key+" "+string(body))
		s.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		switch {
		case strings.HasSuffix(r.URL.Path, "/responses"):
			fmt.Fprint(w, `data: {"type":"response.output_text.delta","item_id":"m","output_index":0,"delta":"by responses"}`+"\n\n"+
				`data: {"type":"response.completed","response":{"status":"completed"}}`+"\n\n")
		case strings.Contains(r.URL.Path, ":streamGenerateContent"):
			fmt.Fprint(w, `data: {"candidates":[{"content":{"parts":[{"text":"by gemini"}]},"finishReason":"STOP"}]}`+"\n\n")
		default:
			fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"by chat"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestServersKnownByName(t *testing.T) {
	for _, c := range []struct {
		name, model, config string
		env                 []string
		says, asked         string
	}{
		{"a preset", "groq/qwen/qwen3-32b", "", []string{"GROQ_API_KEY=gsk", "GROQ_BASE_URL=%s/openai/v1"},
			"by chat", `/openai/v1/chat/completions Bearer gsk {"model":"qwen/qwen3-32b"`},
		{"a local server needs no key", "llamacpp/any", "", []string{"LLAMACPP_BASE_URL=%s/v1"}, "by chat", `/v1/chat/completions  {"model":"any"`},
		{"moved by the configuration", "vllm/m", `{"providers":{"vllm":{"base_url":"%s/v1","key_env":"MINE"}}}`, []string{"MINE=k"},
			"by chat", `/v1/chat/completions Bearer k {"model":"m"`},
		{"described by the configuration", "work/m", `{"providers":{"work":{"base_url":"%s/v1","key_env":"WORK_TOKEN","api":"responses"}}}`,
			[]string{"WORK_TOKEN=k"}, "by responses", `/v1/responses Bearer k {"model":"m"`},
		{"openai over chat", "openai/m", "", []string{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=%s/v1"}, "by chat", "/v1/chat/completions Bearer k"},
		{"openai over responses", "openai/m", `{"providers":{"openai":{"api":"responses"}}}`, []string{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=%s/v1"},
			"by responses", "/v1/responses Bearer k"},
		{"responses by name", "responses/m", "", []string{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=%s/v1"}, "by responses", "/v1/responses Bearer k"},
		{"gemini", "gemini/gemini-2.5-pro", "", []string{"GOOGLE_API_KEY=k", "GEMINI_BASE_URL=%s"}, "by gemini", "/v1beta/models/gemini-2.5-pro:streamGenerateContent k"},
		{"gemini by its key", "", "", []string{"GEMINI_API_KEY=k", "GEMINI_BASE_URL=%s"}, "by gemini", "/v1beta/models/gemini-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newAnyServer(t)
			u := newUser(t)
			u.env = append(u.env, "VLLM_BASE_URL=") // it would win over the file
			at := func(text string) string { return strings.ReplaceAll(text, "%s", s.URL) }
			for _, kv := range c.env {
				u.env = append(u.env, at(kv))
			}
			if c.config != "" {
				u.env = append(u.env, "ADZE_CONFIG="+u.file("config.json", at(c.config)))
			}
			args := []string{"-p", "hi"}
			if c.model != "" {
				args = append(args, "--model", c.model)
			}
			u.run(args...).wants(0, c.says)
			if len(s.asked) != 1 || !strings.HasPrefix(s.asked[0], c.asked) {
				t.Errorf("asked %.300q", s.asked)
			}
		})
	}
}

func TestServersThatCannotBeUsed(t *testing.T) {
	for _, c := range []struct {
		name, model, config, env, says string
	}{
		{"no key", "groq/m", "", "", "set GROQ_API_KEY"},
		{"unknown", "nowhere/m", "", "", `there is no provider "nowhere"`},
		{"unknown, and how to describe it", "nowhere/m", "", "", `{"providers": {"nowhere": {"base_url"`},
		{"a format that does not exist", "openai/m", `{"providers":{"openai":{"api":"telegraph"}}}`, "OPENAI_API_KEY=k", `want "chat", "responses" or "messages"`},
		{"a key that names no model", "", "", "MISTRAL_API_KEY=k", "MISTRAL_API_KEY is set: add --model mistral/NAME"},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := newUser(t)
			if c.env != "" {
				u.env = append(u.env, c.env)
			}
			if c.config != "" {
				u.env = append(u.env, "ADZE_CONFIG="+u.file("config.json", c.config))
			}
			args := []string{"-p", "hi"}
			if c.model != "" {
				args = append(args, "--model", c.model)
			}
			u.run(args...).wants(3, c.says)
		})
	}
}

// The effort of the configuration reaches each format in its own words.
func TestEffortReachesTheServer(t *testing.T) {
	for model, want := range map[string]string{
		"openai/m": `"reasoning_effort":"low"`, "responses/m": `"reasoning":{"effort":"low"`,
		"anthropic/m": `"output_config":{"effort":"low"}`, "gemini/m": `"thinkingLevel":"low"`,
	} {
		u := newUser(t)
		var mu sync.Mutex
		asked := ""
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // a short one fails the check below
			mu.Lock()
			defer mu.Unlock()
			asked = string(body)
			w.WriteHeader(http.StatusForbidden)
		}))
		provider, _, _ := strings.Cut(model, "/")
		u.env = append(u.env, "OPENAI_BASE_URL="+s.URL, "ANTHROPIC_BASE_URL="+s.URL, "GEMINI_BASE_URL="+s.URL,
			"ADZE_CONFIG="+u.file("config.json", `{"providers":{"`+provider+`":{"effort":"low"}}}`))
		u.run("-p", "--model", model, "hi").wants(3)
		if mu.Lock(); !strings.Contains(asked, want) {
			t.Errorf("%s: no %s in %s", model, want, asked)
		}
		mu.Unlock()
		u.run("-p", "--model", model, "--effort", "high", "hi").wants(3) // the flag goes before it
		s.Close()
		if mu.Lock(); !strings.Contains(asked, strings.Replace(want, "low", "high", 1)) {
			t.Errorf("%s with --effort high: %s", model, asked)
		}
		mu.Unlock()
	}
}

// No command sees a key of any server, whatever its variable is called.
func TestKeysStayAwayFromCommands(t *testing.T) {
	u := newUser(t)
	u.env = append(u.env, "ADZE_CONFIG="+u.file("config.json", `{"environment":["*"],"providers":{"work":{"base_url":"http://x/v1","key_env":"PLAIN"}}}`))
	for _, name := range []string{
		"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY", "GROQ_API_KEY", "TOGETHER_API_KEY",
		"MISTRAL_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY", "FIREWORKS_API_KEY", "CEREBRAS_API_KEY", "LLAMA_API_KEY", "LM_API_TOKEN", "VLLM_API_KEY", "PLAIN",
	} {
		u.env = append(u.env, name+"=leaked-"+name)
	}
	model := u.script("-- 1 --\ncall bash: {\"command\":\"env > seen.txt\",\"description\":\"d\"}\n-- 2 --\ntext: enough\n")
	u.run("-p", "--permission-mode", "yolo", model, "hi").wants(0)
	seen, err := os.ReadFile(filepath.Join(u.dir, "seen.txt"))
	if err != nil || !strings.Contains(string(seen), "ADZE=1") || strings.Contains(string(seen), "leaked-") {
		t.Errorf("the command saw: %s (%v)", seen, err)
	}
}

// A call that a local model writes as text runs, and everybody is told how it came; a hosted
// model's does not.
func TestCallsWrittenAsText(t *testing.T) {
	for _, c := range []struct {
		name, model, config string
		runs                bool
	}{
		{"local server", "llamacpp/m", `{}`, true},
		{"another address", "openai/m", `{}`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := newUser(t)
			u.file("a.txt", "hello\n")
			turn := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					w.WriteHeader(http.StatusNotFound)
					return
				}
				text := `I look.\n<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a.txt\"}}</tool_call>`
				if turn++; turn > 1 {
					text = "It says hello."
				}
				fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n", text)
			}))
			defer s.Close()
			u.env = append(u.env, "LLAMACPP_BASE_URL="+s.URL+"/v1", "OPENAI_BASE_URL="+s.URL+"/v1", "OPENAI_API_KEY=k",
				"ADZE_CONFIG="+u.file("config.json", c.config))
			r := u.run("-p", "--output-format", "stream-json", "--model", c.model, "hi").wants(0)
			ran, shown := strings.Contains(r.out, `"provenance":{"origin":"text"}`), strings.Contains(fmt.Sprint(r.result()["text"]), "tool_call")
			if ran != c.runs || shown == c.runs {
				t.Errorf("ran %t, shown %t: %s", ran, shown, r.out)
			}
		})
	}
}
