package models

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"adze/internal/config"
)

// TestTheOnlyModelOfAGivenAddressIsUsed, whether the environment or the configuration gives it; of
// several, and without the key that the server wants, the error says what to do.
func TestTheOnlyModelOfAGivenAddressIsUsed(t *testing.T) {
	names, key := []string{"coder-7b"}, "sk-given"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error": {"message": "no key"}}`)
			return
		}
		var listed []string
		for _, n := range names {
			listed = append(listed, fmt.Sprintf(`{"id": %q, "object": "model"}`, n))
		}
		fmt.Fprintf(w, `{"object": "list", "data": [%s]}`, strings.Join(listed, ","))
	}))
	t.Cleanup(srv.Close)
	env := map[string]string{"OLLAMA_HOST": "127.0.0.1:1", "OPENAI_API_KEY": key, "OPENAI_BASE_URL": srv.URL + "/v1"}
	choose := func(c config.Config) (Model, error) {
		return New(c, t.TempDir(), func(name string) string { return env[name] }, Memory{}).Choose(t.Context())
	}
	if m, err := choose(config.Config{}); err != nil || m.Name != "coder-7b" || m.Origin != "the only model of OPENAI_BASE_URL" {
		t.Errorf("by the environment: %s from %q, %v", m.Name, m.Origin, err)
	}
	env["OPENAI_BASE_URL"], env["OWN"] = "", key
	own := config.Config{Providers: map[string]config.Provider{"server": {BaseURL: srv.URL + "/v1", KeyEnv: "OWN"}}}
	env["OPENAI_API_KEY"] = ""
	if m, err := choose(own); err != nil || m.Name != "coder-7b" || m.Provider.Name() != "server" {
		t.Errorf("by the configuration: %s of %v, %v", m.Name, m.Provider, err)
	}
	names = append(names, "coder-32b")
	if _, err := choose(own); err == nil || !strings.Contains(err.(*MissingError).Hint, "lists 2 models: name one with --model server/NAME") {
		t.Errorf("of two models: %v, %+v", err, err)
	}
	env["OWN"] = ""
	if _, err := choose(own); err == nil || !strings.Contains(err.Error(), "the server of providers.server.base_url cannot be used") {
		t.Errorf("without its key: %v, %+v", err, err)
	}
}
