package cmd_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"adze/internal/testkit/effort"
)

// listed is what adze models --json says.
type listed struct {
	Default *struct{ Model, Origin string }
	Problem string

	Providers []struct {
		Provider, Endpoint, Why string
		Key                     bool
		Usable                  *bool
		Models                  []struct {
			Model   string
			Context int
			Size    int64 `json:"size_bytes"`
			Tools   *bool
			Input   *float64 `json:"input_usd"`
		}
	}
}

func (u *user) models(args ...string) listed {
	u.t.Helper()
	var l listed
	if err := json.Unmarshal([]byte(u.run(append([]string{"models", "--json"}, args...)...).wants(0).out), &l); err != nil {
		u.t.Fatal(err)
	}
	return l
}

func TestModelsSaysWhatIsUsableAndWhatTheOthersLack(t *testing.T) {
	u := newUser(t)
	server := newLlama(t)
	u.env = append(u.env, "OLLAMA_HOST="+server.URL, "GROQ_API_KEY=sk-never-shown")
	l := u.models()
	if l.Default == nil || l.Default.Model != "ollama/coder:7b" || l.Default.Origin != "running Ollama" {
		t.Errorf("default = %+v", l.Default)
	}
	states := map[string]string{}
	for _, p := range l.Providers {
		state := "unknown"
		if p.Usable != nil {
			state = map[bool]string{true: "usable", false: "no"}[*p.Usable]
		}
		states[p.Provider] = state + ": " + p.Why
		if p.Provider == "ollama" {
			if len(p.Models) != 2 || *p.Models[0].Tools || !*p.Models[1].Tools || p.Models[1].Context != 32768 || p.Models[1].Size != 2 {
				t.Errorf("Ollama's models = %+v", p.Models)
			}
		}
	}
	for provider, want := range map[string]string{
		"anthropic": "no: set ANTHROPIC_API_KEY", "groq": "usable: key in GROQ_API_KEY", "ollama": "usable: running",
		"lmstudio": "no: not running",
	} {
		if states[provider] != want {
			t.Errorf("%s is %q, want %q", provider, states[provider], want)
		}
	}
	r := u.run("models").wants(0, "default: ollama/coder:7b", "context 32768", "no tools", "GROQ_API_KEY")
	if strings.Contains(r.out+r.err, "never-shown") {
		t.Error("the key was shown")
	}
}

func TestModelsFollowsTheConfigurationAndThePersonsPrices(t *testing.T) {
	u := newUser(t)
	u.env = append(u.env, "ANTHROPIC_API_KEY=sk-never-shown")
	u.configure(`{"model": "anthropic/claude-haiku-4-5", "models": {"anthropic/claude-haiku-4-5": {"context": 7, "price": {"input": 2}}}}`)
	l := u.models()
	if l.Default == nil || l.Default.Model != "anthropic/claude-haiku-4-5" || !strings.HasSuffix(l.Default.Origin, "config.json") {
		t.Errorf("default = %+v", l.Default)
	}
	found := false
	for _, m := range l.Providers[0].Models {
		if m.Model == "claude-haiku-4-5" {
			found = m.Context == 7 && *m.Input == 2
		}
	}
	if !found {
		t.Errorf("the person's row does not count: %+v", l.Providers[0].Models)
	}
}

// A server whose address the user gave is asked; of one that refuses, the key is not shown.
func TestModelsAsksGivenServers(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "Bearer sk-right" {
			w.WriteHeader(401)
			io.WriteString(w, `{"error":{"message":"bad key sk-wrong"}}`)
			return
		}
		io.WriteString(w, `{"data":[{"id":"qwen3-coder"}]}`)
	}))
	t.Cleanup(s.Close)
	u := newUser(t)
	// The presets of this machine must not find a server of this machine.
	u.env = append(u.env, "LLAMACPP_BASE_URL=http://127.0.0.1:1/v1", "LMSTUDIO_BASE_URL=http://127.0.0.1:1/v1", "VLLM_BASE_URL=http://127.0.0.1:1/v1", "WORK_KEY=sk-right")
	u.configure(`{"providers": {"work": {"base_url": "` + s.URL + `/v1", "key_env": "WORK_KEY"}}}`)
	u.run("models").wants(0, "default: work/qwen3-coder", "usable   answers", "not running")
	u.env = append(u.env, "WORK_KEY=sk-wrong")
	if r := u.run("models").wants(0, "does not take the key in WORK_KEY"); strings.Contains(r.out, "sk-wrong") || asked.Load() > 4 {
		t.Errorf("asked %d times, or the key was shown:\n%s", asked.Load(), r.out)
	}
}

func TestModelsTellsTheWaysToAModel(t *testing.T) {
	u := newUser(t)
	u.run("models").wants(0, "default: none", "ANTHROPIC_API_KEY", "adze --demo")
	if l := u.models(); l.Default != nil {
		t.Errorf("default = %+v", l.Default)
	}
	u.run("models", "--chek").wants(2, "did you mean --check?")
}

func TestAServerThatNeverAnswersIsNoFaultOfAdze(t *testing.T) {
	effort.Needs(t, effort.Short, "waits for the patience of a second to end")
	released := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-released }))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(released) })
	u := newUser(t)
	u.env = append(u.env, "OLLAMA_HOST="+s.URL)
	u.configure(`{"model": "ollama/coder:7b"}`)
	u.doctor(4).wants(t, "server", "fail", "did not answer in time")
}

func TestModelsCanBeFiltered(t *testing.T) {
	u := newUser(t)
	u.env = append(u.env, "ANTHROPIC_API_KEY=sk-never-shown", "GEMINI_API_KEY=sk-never-shown")
	l := u.models("HAIKU")
	if len(l.Providers) != 1 || l.Providers[0].Provider != "anthropic" || len(l.Providers[0].Models) == 0 {
		t.Fatalf("%+v", l.Providers)
	}
	for _, m := range l.Providers[0].Models {
		if !strings.Contains(m.Model, "haiku") {
			t.Errorf("%s is listed", m.Model)
		}
	}
	if l := u.models("nothing-of-this-name"); l.Providers == nil || len(l.Providers) != 0 {
		t.Errorf("%+v", l.Providers)
	}
	u.run("models", "gemini").wants(0, "gemini-flash-latest · context 1048576 · output 65536 · tools · vision · documents · thinking")
	u.run("models", "a", "b").wants(2)
}
