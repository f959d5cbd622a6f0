package run_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// TestAStartWithoutAModelSaysWhatToDo, and quitting it is what a script gets: the message and its
// code.
func TestAStartWithoutAModelSaysWhatToDo(t *testing.T) {
	u := newUser(t)
	u.env = append(u.env, "OPENAI_API_KEY= ")
	p := u.openPane(100, 30)
	p.begin()
	p.sees("no model is configured", "▸", "export ANTHROPIC_API_KEY=…", "watch the demo", "ollama", "not running", "not set:", "sandbox", "100×30", "config.json")
	p.choose("list the models")
	p.sees("or type provider/name", "anthropic/…", "not now: set ANTHROPIC_API_KEY")
	p.keys("Escape")
	p.sees("what to do next")
	p.keys("Escape")
	p.sees("no model is configured", "hint")
	p.restored(3)
}

// TestTheDemoStartsInPlace with its own folder, model and rules.
func TestTheDemoStartsInPlace(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the demo runs go test, and there is no go")
	}
	u := newUser(t)
	u.env = append(u.env, "TMPDIR="+t.TempDir())
	p := u.openPane(100, 30)
	p.begin("--model=nobody/none", "fix it")
	p.sees(`there is no provider "nobody"`, "watch the demo")
	p.choose("watch the demo")
	p.sees("Find the bug", "esc: stop")
	p.keys("C-c", "C-c")
	p.restored(0)
}

// TestAKeyWithoutANetworkStartsAtOnce: what the network lacks is told when it is needed.
func TestAKeyWithoutANetworkStartsAtOnce(t *testing.T) {
	u := newUser(t)
	u.env = append(u.env, "ANTHROPIC_API_KEY=sk-never-shown", "ANTHROPIC_BASE_URL=http://127.0.0.1:1")
	u.configure(`{"providers": {"anthropic": {"base_url": "http://127.0.0.1:1"}}}`)
	p := u.openPane(80, 24)
	p.begin()
	p.sees("anthropic/claude", "Ask, or say what to do")
	p.text("/model")
	p.keys("Enter")
	now := p.sees("models ·", "claude-sonnet", "(now)")
	if strings.Contains(now, "never-shown") {
		t.Error("the key was shown")
	}
	p.keys("Escape")
	p.gone("models ·")
	p.text("hello")
	p.keys("Enter")
	p.sees("cannot reach")
	p.keys("C-c", "C-c")
	p.restored(0)
}

// pulling is a written Ollama that has a model without tools, and after a while one with tools.
func pulling(t *testing.T) (address string, pulled *atomic.Bool) {
	t.Helper()
	pulled = &atomic.Bool{}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/tags", func(w http.ResponseWriter, _ *http.Request) {
		more := ""
		if pulled.Load() {
			more = `,{"name":"coder:7b","size":4700000000}`
		}
		io.WriteString(w, `{"models":[{"name":"poet:latest","size":1}`+more+`]}`)
	})
	mux.HandleFunc("/api/ps", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"models":[]}`) })
	mux.HandleFunc("/api/show", showModel)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL, pulled
}

func TestAnOllamaWithoutToolsIsToldWhatItLacks(t *testing.T) {
	u := newUser(t)
	address, pulled := pulling(t)
	u.env = append(u.env, "OLLAMA_HOST="+address)
	p := u.openPane(100, 30)
	p.begin()
	p.sees("▸ ollama pull", "none of its models can call tools", "poet:latest (cannot call tools)")
	pulled.Store(true)
	p.choose("look again")
	p.sees("▸ use ollama/coder:7b", "4.7 GB")
	p.keys("Enter")
	p.sees("Ask, or say what to do", "ollama/coder:7b", "is now the default")
	if kept, err := os.ReadFile(filepath.Join(u.home, "config.json")); err != nil || !strings.Contains(string(kept), `"ollama/coder:7b"`) {
		t.Errorf("the next start does not know what was chosen: %s, %v", kept, err)
	}
	p.quit()
}

func TestAnOllamaWithToolsIsUsedAtOnce(t *testing.T) {
	u := newUser(t)
	address, pulled := pulling(t)
	pulled.Store(true)
	u.env = append(u.env, "OLLAMA_HOST="+address)
	p := u.openPane(80, 24)
	p.adze()
	p.sees("ollama/coder:7b")
	p.quit()
}

// TestASessionIsOpenedAsACopy from the list, after a look at its last exchange.
func TestASessionIsOpenedAsACopy(t *testing.T) {
	u := newUser(t)
	model := u.script("-- 1 --\ntext: The first answer.\n-- 2 --\ntext: In the copy.\n")
	p := u.openPane(120, 30)
	p.adze(model)
	p.text("the question")
	p.keys("Enter")
	p.sees("The first answer.")
	p.rests()
	p.keys("F2")
	p.sees("sessions ·", "the question", "open now")
	p.sees("its last exchange", "1 turn, 2 messages")
	p.keys("C-f")
	p.sees("┃ the question", "The first answer.", "Ask, or say what to do")
	p.keys("F2")
	p.until("two sessions", func() bool { return strings.Count(p.screen(), "the question") >= 2 })
	p.keys("Escape")
	p.gone("sessions ·")
	p.quit()
}

// gone waits until the screen no longer shows a text.
func (p *pane) gone(text string) {
	p.t.Helper()
	p.until(text+" is gone", func() bool { return !strings.Contains(p.screen(), text) })
}
