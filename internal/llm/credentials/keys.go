// Package credentials holds the user's API keys: taken out of the process environment or from the
// keyring, checked when the configuration is read, and redacted in everything stored.
//
// The one rule: programs that adze starts, editors and clipboard tools included, never get a key.
//
// Start reading at Take, then Ring.Load; files.go learns the secrets of files such as .env before a
// call reads them.
//
// Known limits: before the configuration is read, only the keys of built-in providers are known. A
// file that a command reads without naming it is known only at the top of the workspace.
package credentials

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"adze/internal/config"
	"adze/internal/config/keyring"
	"adze/internal/llm/models"
	"adze/internal/text/redact"
	"adze/internal/text/usage"
)

// A Ring holds a user's keys and the masker that redacts them. It is safe for concurrent use.
type Ring struct {
	getenv func(string) string // if nil, the process environment, including the variables taken out of it
	making sync.Mutex
	mu     sync.Mutex
	taken  map[string]string

	config  config.Config                 // as last loaded
	keyring *keyring.Store                // nil if there is no keyring
	learned []string                      // taken keys, and values from files
	masker  atomic.Pointer[redact.Masker] // built when the configuration is read
}

// Take removes the keys of all built-in providers from the process environment.
func Take() *Ring {
	r := &Ring{taken: map[string]string{}}
	r.take(models.KeyNames(config.Config{}))
	return r
}

// TakeHeaders removes variables that hold headers with keys for other servers, as
// name=value,name=value.
func (r *Ring) TakeHeaders(names []string) {
	r.take(names)
	const short = 8 // hiding shorter values would hide ordinary words
	for _, name := range names {
		for pair := range strings.SplitSeq(r.Get(name), ",") {
			_, value, _ := strings.Cut(pair, "=")
			if plain, err := url.PathUnescape(value); err == nil {
				value = plain
			}
			words := strings.Fields(value) // such as "Bearer" and the key
			if len(words) > 0 && len(words[len(words)-1]) >= short {
				r.RedactValues(words[len(words)-1])
			}
		}
	}
}

// Removed returns the removed variables, as NAME=value, for another adze process that this one
// starts.
func (r *Ring) Removed() (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, value := range r.taken {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// NewRing returns a ring that reads variables with getenv and does not change the environment.
func NewRing(getenv func(string) string) *Ring { return &Ring{getenv: getenv} }

func (r *Ring) take(names []string) {
	if r.getenv != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			r.taken[name] = value
			_ = os.Unsetenv(name) // fails for invalid names
		}
	}
}

// Get is os.Getenv for adze itself.
func (r *Ring) Get(name string) string {
	if r.getenv != nil {
		return r.getenv(name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if value, ok := r.taken[name]; ok {
		return value
	}
	return os.Getenv(name)
}

// Load reads the user's configuration and removes the keys that it names from the environment.
func (r *Ring) Load(path string) (config.Config, error) {
	var cfg config.Config
	raw, err := config.Read(path)
	if err == nil {
		cfg, err = config.Parse(path, raw)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cfg, err
	}
	warnKeys(&cfg, path, string(raw))
	names := models.KeyNames(cfg)
	r.take(names)
	for _, name := range names {
		// Spaces around a key are trimmed. A line break inside means that two lines were pasted; no
		// header can hold it.
		if strings.ContainsFunc(strings.TrimSpace(r.Get(name)), unicode.IsControl) {
			return cfg, usage.Mistake("set "+name+" to the key alone, on one line", "the key in %s holds a line break or another control character", name)
		}
	}
	r.mu.Lock()
	r.config = cfg
	r.mu.Unlock()
	r.remask()
	return cfg, nil
}

// warnKeys warns about keys in the file itself, where backups and screens show them.
func warnKeys(cfg *config.Config, path, text string) {
	told := 0
	for _, x := range redact.New().Spans(text) {
		if line := 1 + strings.Count(text[:x.Start], "\n"); line != told {
			told = line
			cfg.Warn(fmt.Sprintf("%s: line %d: a key or a password is written here; adze models login keeps one, and key_env or ${NAME} names a variable", path, line))
		}
	}
}

// Use sets the keyring.
func (r *Ring) Use(kept *keyring.Store) { r.keyring = kept }

// Store returns the keyring, or nil.
func (r *Ring) Store() *keyring.Store { return r.keyring }

// List lists the providers with a key in the keyring.
func (r *Ring) List() ([]string, error) {
	if r.keyring == nil {
		return nil, nil
	}
	return r.keyring.List()
}

// Key returns the stored key for a provider and its host, or "". The key is redacted from then on.
func (r *Ring) Key(provider, host string) (string, error) {
	if r.keyring == nil {
		return "", nil
	}
	key, err := r.keyring.Key(provider, host)
	r.Hide(key)
	return key, err
}

// Hide redacts a key from another source.
func (r *Ring) Hide(key string) {
	if key != "" {
		r.RedactValues(key)
	}
}

// maxLearned limits the values searched for in every text.
const maxLearned = 1000

// RedactValues redacts the values in everything stored from now on.
func (r *Ring) RedactValues(values ...string) {
	r.mu.Lock()
	before := len(r.learned)
	for _, v := range values {
		if len(r.learned) < maxLearned && !slices.Contains(r.learned, v) {
			r.learned = append(r.learned, v)
		}
	}
	more := len(r.learned) > before
	r.mu.Unlock()
	if more {
		r.remask()
	}
}

// remask rebuilds the masker. A concurrent rebuild never replaces a later one.
func (r *Ring) remask() {
	r.making.Lock()
	defer r.making.Unlock()
	r.mu.Lock()
	cfg := r.config
	r.mu.Unlock()
	r.masker.Store(redact.New(r.Secrets(cfg)...))
}

// Secrets returns the values to redact: provider keys, and other variables that look secret.
func (r *Ring) Secrets(cfg config.Config) []string {
	r.mu.Lock()
	out := slices.Clone(r.learned)
	r.mu.Unlock()
	for _, name := range models.KeyNames(cfg) {
		if v := r.Get(name); v != "" {
			out = append(out, v)
		}
	}
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		if v := redact.InVariable(name, value); v != "" {
			out = append(out, v)
		}
	}
	return out
}

// Mask returns the masker for stored or shared text. Before the configuration is read it knows only
// the keys of built-in providers.
func (r *Ring) Mask() *redact.Masker {
	if m := r.masker.Load(); m != nil {
		return m
	}
	return redact.New(r.Secrets(config.Config{})...)
}
