package ollama_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/llm/ollama"
	"adze/session"
)

func TestModelsAndPick(t *testing.T) {
	s := serve(t, &server{show: map[string]string{
		"small:1b": `{"capabilities":["completion"]}`,
		"coder:7b": `{"capabilities":["completion","tools","thinking"],"model_info":{"qwen.context_length":32768}}`,
		"other:8b": `{"template":"{{ if .Tools }}","model_info":{"llama.context_length":8192}}`,
	}})
	models, err := ollama.New(ollama.Options{BaseURL: s.URL, Key: "k"}).Models(t.Context())
	want := []ollama.Model{
		{Name: "small:1b", Size: 1},
		{Name: "coder:7b", Size: 7, Context: 32768, Tools: true, Thinking: true},
		{Name: "other:8b", Size: 8, Context: 8192, Tools: true, Loaded: true, Running: 4096},
		{Name: "broken:1b"},
	}
	if diff := cmp.Diff(want, models); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if s.key != "Bearer k" {
		t.Errorf("key %q", s.key)
	}
}

func TestNoServer(t *testing.T) {
	_, err := ollama.New(ollama.Options{BaseURL: "http://127.0.0.1:1"}).Models(t.Context())
	var failure *session.ProviderError
	if !errors.As(err, &failure) || failure.Kind != session.NetworkError || !strings.Contains(failure.Hint, "ollama serve") {
		t.Errorf("%#v", err)
	}
}

func TestAnAddressIsReadAsOllamaReadsIt(t *testing.T) {
	for value, want := range map[string]string{
		"":                        "",
		" \"\" ":                  "",
		"0.0.0.0":                 "http://127.0.0.1:11434",
		"0.0.0.0:8080":            "http://127.0.0.1:8080",
		":8080":                   "http://127.0.0.1:8080",
		"example.com":             "http://example.com:11434",
		"example.com:99":          "http://example.com:99",
		"http://example.com":      "http://example.com:80",
		"https://example.com":     "https://example.com:443",
		"https://example.com:1/":  "https://example.com:1",
		"https://example.com/a/b": "https://example.com:443/a/b",
		"[::1]":                   "http://[::1]:11434",
		"[::]:8080":               "http://[::1]:8080",
		"::1":                     "http://[::1]:11434",
		" \"10.0.0.1:5\" ":        "http://10.0.0.1:5",
		"example.com:99999":       "http://example.com:11434",
	} {
		if got := ollama.BaseOf(value); got != want {
			t.Errorf("%q: %q; want %q", value, got, want)
		}
	}
}
