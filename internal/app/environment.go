package app

import (
	"os"
	"strings"
	"sync"
	"unicode"

	"adze/internal/config"
	"adze/internal/masked"
	"adze/internal/models"
	"adze/internal/proc"
	"adze/internal/secret"
)

// environment holds the keys, which are taken out of the process's own environment: whatever adze starts, an editor or
// a reader of the clipboard too, can neither read nor pass on what it never got.
type environment struct {
	mu   sync.Mutex
	keys map[string]string
}

// takeEnvironment conceals the process and takes the keys of all providers that adze knows.
func takeEnvironment() *environment {
	proc.Conceal()
	e := &environment{keys: map[string]string{}}
	e.take(models.KeyNames(config.Config{}))
	return e
}

func (e *environment) take(names []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			e.keys[name] = value
			_ = os.Unsetenv(name) // it fails for names that no variable can have
		}
	}
}

// get is os.Getenv for adze itself.
func (e *environment) get(name string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if value, ok := e.keys[name]; ok {
		return value
	}
	return os.Getenv(name)
}

// load reads the person's configuration, and takes the keys that it names out of the environment.
func (a *app) load(path string) (config.Config, error) {
	cfg, err := config.Load(path)
	if err != nil {
		return cfg, err
	}
	names := models.KeyNames(cfg)
	if a.environment != nil {
		a.environment.take(names)
	}
	for _, name := range names {
		// Spaces around a key are taken off. Inside, a line break is two lines that were pasted, and no header can hold it.
		if strings.ContainsFunc(strings.TrimSpace(a.Getenv(name)), unicode.IsControl) {
			return cfg, misuse("set "+name+" to the key alone, on one line", "the key in %s holds a line break or another control character", name)
		}
	}
	a.masker.Store(secret.New(a.secrets(cfg)...))
	return cfg, nil
}

// secrets are the values that nothing lasting may hold: the keys of providers, and what of the other variables is a
// secret.
func (a *app) secrets(cfg config.Config) []string {
	var out []string
	for _, name := range models.KeyNames(cfg) {
		if v := a.Getenv(name); v != "" {
			out = append(out, v)
		}
	}
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		if v := secret.InVariable(name, value); v != "" {
			out = append(out, v)
		}
	}
	return out
}

// mask is what hides secrets in all that lasts or that others read; before the configuration is read it knows the keys
// of the providers that have names.
func (a *app) mask() *secret.Masker {
	if m := a.masker.Load(); m != nil {
		return m
	}
	return secret.New(a.secrets(config.Config{})...)
}

// log hides secrets in what the store keeps.
func (a *app) log() *masked.Log {
	a.entries.Mask = a.mask
	return &a.entries
}
