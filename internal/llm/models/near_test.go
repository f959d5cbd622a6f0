package models

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"adze/internal/config"
)

// finderWith has keys of some, and every server of this machine at an address where nobody answers.
func finderWith(model string, env map[string]string) *Finder {
	return New(config.Config{Model: model}, "config.json", func(name string) string {
		if v, ok := env[name]; ok {
			return v
		}
		for _, v := range vendors() {
			row, _ := vendor(v.Name)
			if v.Program != "" && name == row.URLs[0] {
				return "http://127.0.0.1:1"
			}
		}
		return ""
	}, Memory{})
}

func TestANameAloneFindsItsProvider(t *testing.T) {
	keys := map[string]string{"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "GEMINI_API_KEY": "k", "MISTRAL_API_KEY": "k", "XAI_API_KEY": "k"}
	for name, want := range map[string]string{
		"gpt-4o": "openai/gpt-4o", "o3-mini": "openai/o3-mini", "claude-opus-9": "anthropic/claude-opus-9", "claude-sonnet-5-5": "anthropic/claude-sonnet-5-5",
		"gemini-2.5-pro": "gemini/gemini-2.5-pro", "codestral-latest": "mistral/codestral-latest", "grok-4": "xai/grok-4",
	} {
		m, err := finderWith("", keys).Named(name)
		if err != nil || m.Full() != want {
			t.Errorf("%s is %v, %v; want %s", name, m.Name, err, want)
		}
	}
	if _, err := finderWith("", nil).Named("gpt-4o"); err == nil || !strings.Contains(err.Error(), "no key for openai") {
		t.Errorf("without its key: %v", err)
	}
}

func TestANameThatIsNoneSaysWhatIsNear(t *testing.T) {
	for name, want := range map[string]string{
		"opnai/x":                   "did you mean openai/x?",
		"antropic/claude-sonnet":    "did you mean anthropic/claude-sonnet?",
		"google/gemini-2.5-pro":     "did you mean gemini/gemini-2.5-pro?",
		"work/gpt-4o":               "did you mean openai/gpt-4o?",
		"nowhere/m":                 `{"providers": {"nowhere": {"base_url"`,
		"openai":                    "did you mean openai/gpt-5.4?",
		"openai/":                   "did you mean openai/gpt-5.4?",
		"groq":                      "adze models groq --check",
		"sonnet-5-5":                "did you mean anthropic/claude-sonnet-5-5?",
		"zzzzzzzzzzzzzzzzzzzzz":     "adze models lists",
		"gpt-oss-20b":               "adze models lists",
		"meta-llama/Llama-4-Large":  "adze models lists",
		"qwen3:8b":                  "adze models lists",
		"/":                         "adze models lists",
		strings.Repeat("x", 1<<20):  "adze models lists",
		"mistral-small:24b":         "adze models lists",
		"anthropic/claude-sonnet/x": "",
	} {
		_, err := finderWith("", map[string]string{"ANTHROPIC_API_KEY": "k"}).Named(name)
		var none *MissingError
		if want == "" {
			if err != nil {
				t.Errorf("%.40s: %v", name, err)
			}
			continue
		}
		if !errors.As(err, &none) || !strings.Contains(none.Hint, want) {
			t.Errorf("%.40s: %.200v; want %q", name, err, want)
			continue
		}
		if lines := strings.Split(none.Hint, "\n"); len(lines) > 3 || len(lines[0]) > len(lines[len(lines)-1]) {
			t.Errorf("%.40s: the hints are not three, the shortest first: %q", name, lines)
		}
	}
}

// Without any model there are three hints at most, whatever was found on the machine.
func TestNoModelSaysLittle(t *testing.T) {
	_, err := finderWith("", map[string]string{"MISTRAL_API_KEY": "k", "GROQ_API_KEY": "k"}).Choose(context.Background())
	var none *MissingError
	if !errors.As(err, &none) || strings.Count(none.Hint, "\n") > 2 || !strings.Contains(none.Hint, "is set: add --model") {
		t.Errorf("%v: %+v", err, none)
	}
}

// A name that only a server of this machine has is found there.
func TestANameAloneFindsAServerOfThisMachine(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"data":[{"id":"my-tune"},{"id":"mistral-small"}]}`)
	}))
	defer s.Close()
	env := map[string]string{"LLAMACPP_BASE_URL": s.URL + "/v1"}
	for name, want := range map[string]string{"my-tune": "llamacpp/my-tune", "mistral-small": "llamacpp/mistral-small"} {
		if m, err := finderWith(name, env).Choose(context.Background()); err != nil || m.Full() != want {
			t.Errorf("%s: %v; want %s", name, err, want)
		}
	}
	_, err := finderWith("my-tun", env).Choose(context.Background())
	var none *MissingError
	if !errors.As(err, &none) || !strings.Contains(none.Hint, "did you mean llamacpp/my-tune?") {
		t.Errorf("a near one: %v %+v", err, none)
	}
	l := finderWith("llamacpp/my-tun", env).List(context.Background(), true)
	if !strings.Contains(l.Problem, "did you mean llamacpp/my-tune?") {
		t.Errorf("a default that its server does not list: %q", l.Problem)
	}
}

// What a name suggests and what a server of this machine has may be the same: it is said once.
func TestTheSameGuessIsMadeOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"object": "list", "data": [{"id": "good-model"}]}`)
	}))
	defer server.Close()
	_, err := finderWith("opneai/good-model", map[string]string{"OPENAI_BASE_URL": server.URL + "/v1"}).Choose(context.Background())
	var none *MissingError
	if !errors.As(err, &none) || strings.Count(none.Hint, "did you mean openai/good-model?") != 1 || !strings.Contains(none.Hint, "compatible server") {
		t.Errorf("%v", err)
	}
}
