package cmd_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// examined are the checks of adze doctor --json, by name.
type examined map[string]struct{ State, Found, Mend string }

func (u *user) doctor(code int, args ...string) examined {
	u.t.Helper()
	r := u.run(append([]string{"doctor", "--json"}, args...)...).wants(code)
	var said struct {
		ExitCode int `json:"exit_code"`
		Checks   []struct{ Name, State, Found, Mend string }
	}
	if err := json.Unmarshal([]byte(r.out), &said); err != nil || said.ExitCode != code {
		u.t.Fatalf("exit code %d, err %v: %s", said.ExitCode, err, r.out)
	}
	out := examined{}
	for _, c := range said.Checks {
		if c.State != "ok" && c.Mend == "" {
			u.t.Errorf("%s does not say how to mend it", c.Name)
		}
		out[c.Name] = struct{ State, Found, Mend string }{c.State, c.Found, c.Mend}
	}
	return out
}

func (e examined) wants(t *testing.T, name, state, part string) {
	t.Helper()
	if c := e[name]; c.State != state || !strings.Contains(c.Found+" "+c.Mend, part) {
		t.Errorf("%s = %+v, want %s with %q", name, c, state, part)
	}
}

func TestTheDoctorIsContentWithARunningModel(t *testing.T) {
	u := newUser(t)
	u.env = append(u.env, "OLLAMA_HOST="+newLlama(t).URL)
	e := u.doctor(0)
	e.wants(t, "model", "ok", "ollama/coder:7b (from running Ollama)")
	e.wants(t, "server", "ok", "and has it")
	e.wants(t, "store", "ok", "sessions.db")
	e.wants(t, "disk", e["disk"].State, "MB free")
	if c := e["sandbox"]; c.State == "ok" {
		e.wants(t, "sandbox", "ok", "full (")
	} else { // this machine has none
		e.wants(t, "sandbox", "warn", "a command that you allow can do what you can do")
	}
	e.wants(t, "terminal", "warn", "the output is not one")
	if entries, _ := filepath.Glob(filepath.Join(u.home, "state", ".doctor-*")); len(entries) > 0 {
		t.Errorf("left %v", entries)
	}
}

// TestTheDoctorExitsAsARunWould compares it with a run of the same person.
func TestTheDoctorExitsAsARunWould(t *testing.T) {
	llama := newLlama(t)
	for name, c := range map[string]struct {
		config, env string
		code        int
		check, says string
	}{
		"bad configuration":    {`{"denny": ["x"]}`, "", 2, "configuration", "denny"},
		"no model":             {`{}`, "", 3, "model", "no model is configured"},
		"unknown provider":     {`{"model": "acme/m"}`, "", 3, "model", `no provider "acme"`},
		"no key":               {`{"model": "groq/m"}`, "", 3, "model", "GROQ_API_KEY"},
		"model not there":      {`{"model": "ollama/none"}`, "OLLAMA_HOST=" + llama.URL, 3, "server", "ollama pull none"},
		"server not there":     {`{"model": "openai/m"}`, "OPENAI_BASE_URL=http://127.0.0.1:1/v1", 4, "server", "connection refused"},
		"all is there":         {`{"model": "ollama/coder:7b"}`, "OLLAMA_HOST=" + llama.URL, 0, "server", "has it"},
		"it cannot call tools": {`{"model": "ollama/poet"}`, "OLLAMA_HOST=" + llama.URL, 0, "server", "cannot call tools"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.configure(c.config)
			if c.env != "" {
				u.env = append(u.env, c.env)
			}
			e := u.doctor(c.code)
			state := "fail"
			if c.code == 0 {
				state = e[c.check].State
			}
			e.wants(t, c.check, state, c.says)
		})
	}
}

func TestTheDoctorTellsARefusedKeyAndNeverShowsIt(t *testing.T) {
	u := newUser(t)
	u.serveAll(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(401)
		io.WriteString(w, `{"error":{"message":"bad key `+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+`"}}`)
	})
	u.configure(`{"model": "openai/m"}`)
	u.doctor(3).wants(t, "server", "fail", "401")
	r := u.run("doctor").wants(3, "OPENAI_API_KEY", "fail  server")
	if strings.Contains(r.out+r.err, "sk-secret") {
		t.Errorf("the key was shown: %s", r.out)
	}
	u.doctor(0, "--offline").wants(t, "model", "ok", "openai/m")
}

func TestTheDoctorFindsAStoreThatCannotBeOpened(t *testing.T) {
	u := newUser(t)
	if err := os.WriteFile(filepath.Join(u.home, "state"), []byte("a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := u.doctor(10, "--offline")
	e.wants(t, "store", "fail", "--no-session")
}

// A key that cannot be right is told without a request, and no key is shown, not in part either.
func TestTheDoctorSeesAKeyThatCannotBeRight(t *testing.T) {
	for name, c := range map[string]struct{ env, key, says string }{
		"of another company": {"ANTHROPIC_API_KEY", "gsk_0123456789abcdefghij", "ANTHROPIC_API_KEY holds a key of groq"},
		"with its header":    {"GROQ_API_KEY", "Bearer gsk_0123456789abcdefghij", "GROQ_API_KEY begins with Bearer"},
		"an example":         {"GEMINI_API_KEY", "your-key-0123456789-goes-here", "looks like an example"},
		"in quotes":          {"OPENAI_API_KEY", `"sk-0123456789abcdefghij"`, "has quotes"},
		"cut":                {"OPENAI_API_KEY", "sk-0123456", "too short"},
		"pasted twice":       {"MISTRAL_API_KEY", "0123456789abcdefghij 0123456789abcdefghij", "has characters"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.env = append(u.env, c.env+"="+c.key)
			u.configure(`{"model": "llamacpp/m"}`)
			r := u.run("doctor", "--offline").wants(0, "warn  keys", c.says, "copy the key again")
			if strings.Contains(r.out+r.err, "0123456") {
				t.Errorf("the key was shown:\n%s", r.out)
			}
		})
	}
	u := newUser(t)
	u.env = append(u.env, "OPENAI_API_KEY=any", "OPENAI_BASE_URL=http://127.0.0.1:1/v1") // no company's server
	u.configure(`{"model": "openai/m"}`)
	u.doctor(0, "--offline").wants(t, "keys", "ok", "OPENAI_API_KEY")
}

func TestTheDoctorLooksAtTheClock(t *testing.T) {
	newUser(t).doctor(0, "--offline").wants(t, "clock", "ok", "20")
	newUser(t).run("doctor", "--offline", "--online").wants(2, "exclude each other")
}
