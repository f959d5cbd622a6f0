package config_test

import (
	"errors"
	"strings"
	"testing"

	"adze/internal/config"
)

func TestAPersonMayPriceAModel(t *testing.T) {
	c, err := config.Parse("c.json", []byte(`{"models": {"ollama/*": {"context": 8192, "tools": true, "price": {"input": 0, "output": 0.5}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	m := c.Models["ollama/*"]
	if m.Context != 8192 || (m.Tools == nil || !*m.Tools) || m.Price.Input == nil || *m.Price.Input != 0 || *m.Price.Output != 0.5 || m.Price.CacheRead != nil {
		t.Errorf("model = %+v", m)
	}
}

func TestAModelThatMakesNoSenseIsAMistake(t *testing.T) {
	for text, want := range map[string]string{
		`{"models": {"qwen3": {}}}`:                          "is not provider/name",
		`{"models": {"ollama/q": {"context": -1}}}`:          "fewer than no tokens",
		`{"models": {"a/b": {"price": {"cache_read": -1}}}}`: "below 0",
	} {
		_, err := config.Parse("c.json", []byte(text))
		var mistake *config.Error
		if !errors.As(err, &mistake) || mistake.Hint == "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestAProviderThatMakesNoSenseIsAMistake(t *testing.T) {
	for text, want := range map[string]string{
		`{"providers": {"ollama": {"profile": "tiny"}}}`: "providers.ollama.profile",
		`{"providers": {"ollama": {"max_context": -1}}}`: "providers.ollama.max_context",
	} {
		_, err := config.Parse("c.json", []byte(text))
		var mistake *config.Error
		if !errors.As(err, &mistake) || mistake.Hint == "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	c, err := config.Parse("c.json", []byte(`{"providers": {"ollama": {"profile": "full", "max_context": 8192}}}`))
	if p := c.Providers["ollama"]; err != nil || p.Profile != "full" || p.MaxContext != 8192 {
		t.Errorf("%+v, %v", p, err)
	}
}
