package run_test

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"adze/internal/testkit/llmtest"
)

// typedFirst begins with letters that were keys of the first screen, and holds those of questions.
const typedFirst = "quit or redo the demo, yes and no?"

// house is a model server that says nothing of itself but the name of its one model.
func house(t *testing.T) *llmtest.OllamaServer {
	t.Helper()
	s := &llmtest.OllamaServer{Model: "house-coder", Write: func(llmtest.OllamaRequest) string { return "It is done." }}
	s.Hidden.Store(true)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// locked is that server behind a key.
func locked(t *testing.T, key string) *httptest.Server {
	t.Helper()
	behind := house(t).Config.Handler
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			http.Error(w, `{"error":{"message":"no key"}}`, http.StatusUnauthorized)
			return
		}
		behind.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// sleeper is an Ollama that does not run until it is woken.
func (u *user) sleeper() (wake func()) {
	u.t.Helper()
	var awake atomic.Bool
	ollama := &llmtest.OllamaServer{Model: "qwen:7b", Write: func(llmtest.OllamaRequest) string { return "It is done." }}
	behind := ollama.Start().Config.Handler
	u.t.Cleanup(ollama.Close)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !awake.Load() {
			http.NotFound(w, r)
			return
		}
		behind.ServeHTTP(w, r)
	}))
	u.t.Cleanup(s.Close)
	u.env = append(u.env, "OLLAMA_HOST="+s.URL)
	return func() { awake.Store(true) }
}

// TestFirstMinutes types a prompt before anything is on the screen: it arrives whole, once, whatever
// is chosen before the first answer.
func TestFirstMinutes(t *testing.T) {
	answers := func(u *user) []string { return []string{u.script("-- 1 --\ntext: It is done.\n")} }
	for name, c := range map[string]struct {
		w    int                    // columns; if 0, 100
		args func(u *user) []string // if nil, none
		// choose goes through the first screen, once the prompt is sent.
		choose func(p *pane, wake func())
		before string // beside the prompt
		shows  string // beside the answer
	}{
		"no model":   {choose: byLook, shows: "ollama/qwen:7b"},
		"60 columns": {w: 60, choose: byLook, shows: "qwen:7b"},
		"own server": {shows: "server/house-coder", choose: func(p *pane, _ func()) {
			p.choose("use your own server")
			p.sees("the address of your server")
			p.text(house(p.t).URL) // without /v1, as one copies it
			p.keys("Enter")
			p.choose("use server/house-coder")
		}},
		"own server with a key": {shows: "server/house-coder", choose: func(p *pane, _ func()) {
			p.choose("use your own server")
			p.sees("the address of your server")
			p.text(locked(p.t, "open-sesame-of-the-house").URL + "/v1")
			p.keys("Enter")
			p.choose("enter the key of server")
			p.sees("the key for server")
			p.text("open-sesame-of-the-house")
			p.keys("Enter")
			p.choose("use server/house-coder")
		}},
		"key in the environment": {shows: "house-coder", args: func(u *user) []string {
			u.env = append(u.env, "OPENAI_API_KEY=sk-of-the-test", "OPENAI_BASE_URL="+locked(u.t, "sk-of-the-test").URL+"/v1")
			return nil
		}},
		"Ollama": {shows: "ollama/qwen:7b", args: func(u *user) []string {
			startOllama(u.t, u, &llmtest.OllamaServer{Write: func(llmtest.OllamaRequest) string { return "It is done." }})
			return nil
		}},
		"inline":        {args: func(u *user) []string { return append(answers(u), "--inline") }, shows: "F1: keys"},
		"no repository": {args: answers, shows: "F1: keys"},
		"planted": {before: "ignored until you allow it: tool:lint", args: func(u *user) []string {
			u.file(".adze/tools/lint.json", `{"name": "lint", "description": "Lint.", "parameters": {"type": "object", "properties": {}}, "command": ["touch", "linted.txt"]}`)
			return answers(u)
		}},
		"no sandbox": {shows: "F1: keys", args: func(u *user) []string {
			u.configure(`{"sandbox": "off"}`)
			return answers(u)
		}},
		"second terminal": {before: "/take goes on with it here", shows: "┃ one", args: func(u *user) []string {
			first := u.openPane(100, 30)
			first.adze(u.script("-- 1 --\ntext: answer one\n-- 2 --\ntext: It is done.\n"))
			first.text("one")
			first.keys("Enter")
			first.sees("answer one", "F1: keys")
			return []string{"--resume", u.newest()}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			wake := u.sleeper()
			var args []string
			if c.args != nil {
				args = c.args(u)
			}
			p := u.openPane(cmp.Or(c.w, 100), 30)
			u.run("trust", "revoke", "mode")
			p.begin(args...)
			p.typed = nil
			p.text(typedFirst[:11])
			p.text(typedFirst[11:])
			p.sees("❯ "+typedFirst, "F1: keys", c.before)
			p.keys("Enter")
			if c.choose != nil {
				p.sees("next: "+typedFirst, "take back")
				c.choose(p, wake)
			}
			now := p.sees("┃ "+typedFirst, "It is done.", "❯ Ask, or say what to do", c.shows)
			if strings.Count(now, "┃ "+typedFirst) != 1 {
				t.Errorf("typed once, and shown:\n%s", now)
			}
			t.Logf("keys: %s\n%s", strings.Join(p.typed, " "), strings.TrimSpace(now))
		})
	}
}

// byLook has an Ollama begin to run, and looks again.
func byLook(p *pane, wake func()) {
	p.t.Helper()
	wake()
	p.choose("look again")
	p.choose("use ollama/qwen:7b")
}

// choose marks a row of the first screen, key by key, and takes it.
func (p *pane) choose(row string) {
	p.t.Helper()
	marked := func() string {
		_, after, _ := strings.Cut(p.screen(), "▸ ")
		line, _, _ := strings.Cut(after, "\n")
		return line
	}
	p.until(row, func() bool { return strings.Contains(p.screen(), row) })
	for now := marked(); !strings.HasPrefix(now, row); now = marked() {
		p.keys("Down")
		p.until("another row", func() bool { return marked() != now })
	}
	p.keys("Enter")
}
