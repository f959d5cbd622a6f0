package models

import (
	"errors"
	"strings"
	"testing"

	"adze/internal/config"
)

// An address that is none is told with the place where it stands before anything is asked, and what
// stands in it is not shown: it may hold a password.
func TestAnAddressThatIsNone(t *testing.T) {
	for _, address := range []string{"localhost:8080/v1", "not a url", "http://", "ftp://host/v1", "//host/v1", "${HOST}/v1", "https://ann:pass@ho st/v1", "http://[::1/v1"} {
		for _, name := range []string{"openai", "mine", "ollama"} {
			if name == "ollama" && (address == "localhost:8080/v1" || address == "//host/v1") {
				continue // a host and a port are enough there
			}
			cfg := config.Config{Providers: map[string]config.Provider{name: {BaseURL: address}}}
			f := New(cfg, "config.json", func(variable string) string {
				return map[string]string{"OPENAI_API_KEY": "key"}[variable]
			}, Memory{})
			_, err := f.Named(name + "/m")
			var missing *MissingError
			if !errors.As(err, &missing) || !strings.Contains(missing.Message, "providers."+name+".base_url") || strings.Contains(missing.Error()+missing.Hint, "pass") {
				t.Errorf("%s %q: %v", name, address, err)
			}
		}
	}
}

func TestTheVariableOfAnAddressIsNamed(t *testing.T) {
	env := map[string]string{"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": "localhost:8080/v1"}
	getenv := func(name string) string { return env[name] }
	if _, err := New(config.Config{}, "", getenv, Memory{}).Named("openai/m"); err == nil || !strings.Contains(err.Error(), "OPENAI_BASE_URL") {
		t.Error(err)
	}
	for _, p := range New(config.Config{}, "", getenv, Memory{}).KeysOnly().Providers {
		if p.Provider == "openai" && (p.Usable == nil || *p.Usable || !strings.Contains(p.Reason, "OPENAI_BASE_URL")) {
			t.Errorf("the list says %+v", p)
		}
	}
	env["OPENAI_BASE_URL"] = "http://localhost:8080/v1"
	if _, err := New(config.Config{}, "", getenv, Memory{}).Named("openai/m"); err != nil {
		t.Error(err)
	}
}
