package models

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"adze/internal/config"
)

// Every row says what the others of its sort say, so that nothing has to be said of a provider anywhere else.
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
		case hostname(v.Home) == "" || len(v.Keys) == 0 || v.Format.New == nil || v.Format.List == nil || v.Format.Header == nil:
			t.Errorf("%s lacks an address, the variable of its key, or its format", v.Name)
		case v.Program != "" && !strings.Contains(v.Home, "127.0.0.1"):
			t.Errorf("%s is a program and at home at %s", v.Name, v.Home)
		case v.Default != "" && v.Rank == 0:
			t.Errorf("%s has a model for a bare key and no place among the others", v.Name)
		}
	}
}

// A server with a known format is one row or one entry of a configuration: it is asked, listed and checked as the others.
func TestADescribedProviderIsAsTheOthers(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer k" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
	}))
	defer s.Close()
	cfg := config.Config{Providers: map[string]config.Provider{"ours": {BaseURL: s.URL + "/v1", KeyEnv: "OURS"}}}
	f := New(cfg, "config.json", func(name string) string { return map[string]string{"OURS": " k\n"}[name] })
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
