package models

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"adze/internal/config"
	"adze/internal/llm/wire"
)

// Every row says what the others of its sort say, so that nothing has to be said of a provider
// anywhere else.
func TestEveryRowIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range vendors() {
		v, known := vendor(row.Name)
		if !known || seen[v.Name] {
			t.Errorf("%s stands twice, or is not found", v.Name)
		}
		seen[v.Name] = true
		if v.Home == "" {
			continue // it asks no server
		}
		switch {
		case wire.Host(v.Home) == "" || len(v.Keys) == 0 || v.Format.New == nil:
			t.Errorf("%s lacks an address, the variable of its key, or its format", v.Name)
		case v.Program != "" && !strings.Contains(v.Home, "127.0.0.1"):
			t.Errorf("%s is a program and at home at %s", v.Name, v.Home)
		case v.Default != "" && v.Rank == 0:
			t.Errorf("%s has a model for a bare key and no place among the others", v.Name)
		}
	}
}

// A server with a known format is one row or one entry of a configuration: it is asked, listed and
// checked as the others.
func TestADescribedProviderIsAsTheOthers(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer k" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
	}))
	defer s.Close()
	cfg := config.Config{Providers: map[string]config.Provider{"ours": {BaseURL: s.URL + "/v1", KeyEnv: "OURS"}}}
	f := New(cfg, "config.json", func(name string) string { return map[string]string{"OURS": " k\n"}[name] }, Memory{})
	m, err := f.Named("ours/m")
	if err != nil || m.Full() != "ours/m" {
		t.Fatal(m, err)
	}
	e, ok := f.Serving(m)
	if !ok || e.KeyEnv != "OURS" || e.NeedsKey {
		t.Errorf("%v %q %v", ok, e.KeyEnv, e.NeedsKey)
	}
	l := f.List(context.Background(), true).Only("ours/")
	if len(l.Providers) != 1 || len(l.Providers[0].Models) != 1 || l.Providers[0].Models[0].Model != "m" {
		t.Errorf("%+v", l.Providers)
	}
}

// Every key of the table is taken out of the environment.
func TestEveryKeyIsKnown(t *testing.T) {
	names := strings.Join(KeyNames(config.Config{}), " ") + " "
	for _, v := range vendors() {
		for _, key := range v.Keys {
			if !strings.Contains(names, key+" ") {
				t.Errorf("%s is no secret", key)
			}
		}
	}
}

// The environment wins over the file, and the file over the row.
func TestTheEnvironmentIsRead(t *testing.T) {
	there := config.Provider{BaseURL: "http://file", KeyEnv: "OURS"}
	for _, c := range []struct {
		name      string
		env       map[string]string
		file      config.Provider
		key, base string
		needed    bool
	}{
		{"openai", nil, config.Provider{}, "", "https://api.openai.com/v1", true},
		{"openai", map[string]string{"OPENAI_API_KEY": " sk-1\n"}, config.Provider{}, "sk-1", "https://api.openai.com/v1", true},
		{"openai", map[string]string{"OPENAI_BASE_URL": "http://localhost:8080/v1"}, there, "", "http://localhost:8080/v1", false},
		{"responses", map[string]string{"OPENAI_BASE_URL": "http://b/v1"}, config.Provider{}, "", "http://b/v1", false},
		{"anthropic", map[string]string{"ANTHROPIC_API_KEY": " k\n"}, config.Provider{}, "k", "https://api.anthropic.com", true},
		{"anthropic", map[string]string{"ANTHROPIC_API_KEY": "k", "OURS": "o"}, there, "o", "http://file", false},
		{"gemini", map[string]string{"GEMINI_BASE_URL": "http://b"}, config.Provider{}, "", "http://b", false},
		{"gemini", map[string]string{"GOOGLE_API_KEY": " k\n"}, config.Provider{}, "k", "https://generativelanguage.googleapis.com", true},
		{"gemini", map[string]string{"GOOGLE_API_KEY": "k", "GEMINI_API_KEY": "first"}, there, "", "http://file", false},
		{"gemini", map[string]string{"GOOGLE_API_KEY": "k", "GEMINI_API_KEY": "first"}, config.Provider{}, "first", "https://generativelanguage.googleapis.com", true},
		{"ollama", nil, config.Provider{}, "", "http://127.0.0.1:11434", false},
		{"ollama", nil, there, "", "http://file", false},
		{"ollama", map[string]string{"OLLAMA_HOST": "0.0.0.0:8080", "OLLAMA_API_KEY": "k"}, config.Provider{BaseURL: "http://file"}, "k", "http://127.0.0.1:8080", false},
		{"my-own", map[string]string{"MY_OWN_BASE_URL": "http://env"}, there, "", "http://env", false},
	} {
		f := New(config.Config{Providers: map[string]config.Provider{c.name: c.file}}, "config.json", func(name string) string { return c.env[name] }, Memory{})
		e, err := f.Endpoint(c.name)
		if err != nil || e.Key != c.key || e.base != c.base || e.NeedsKey != c.needed {
			t.Errorf("%s %v: %q at %q, needed %t, %v", c.name, c.env, e.Key, e.base, e.NeedsKey, err)
		}
	}
}

// TestTracesNameProvidersAsOthersDo: the values are those of the semantic conventions for
// generative AI.
func TestTracesNameProvidersAsOthersDo(t *testing.T) {
	for name, want := range map[string]string{"gemini": "gcp.gemini", "responses": "openai", "openai": "openai", "mistral": "mistral_ai", "xai": "x_ai", "ours": "ours"} {
		if got := InSpans(name); got != want {
			t.Errorf("%s is %s in traces, want %s", name, got, want)
		}
	}
}
