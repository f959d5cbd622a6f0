// Package credentials holds the keys of a user: taken out of the process's own environment or from
// what they gave to keep, checked when the configuration that names them is read, and hidden in all
// that lasts.
//
// The one rule: whatever adze starts, an editor or a reader of the clipboard too, can neither read
// nor pass on what it never got.
//
// Start reading at Take, then Ring.Load; files.go learns the secrets of files such as .env before a
// call reads them.
//
// Known limits: before the configuration is read, only keys of providers that have names are known.
// Of a file that a command reads without naming it, only those at the top of the workspace are
// known.
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

// Ring is the keys of one person, and what hides them. It is safe for concurrent use.
type Ring struct {
	getenv func(string) string // if nil, of the process, with what was taken from it
	making sync.Mutex          // held while the masker is made
	mu     sync.Mutex
	taken  map[string]string

	config  config.Config                 // as last loaded
	kept    *keyring.Store                // if nil, nobody may be asked
	learned []string                      // keys that were taken from it, and values of files that were read
	masker  atomic.Pointer[redact.Masker] // made when the configuration is read
}

// Take takes the keys of all providers that adze knows out of the environment of the process.
func Take() *Ring {
	r := &Ring{taken: map[string]string{}}
	r.take(models.KeyNames(config.Config{}))
	return r
}

// TakeHeaders takes variables that hold headers, as name=value,name=value, with keys for servers
// other than a model's.
func (r *Ring) TakeHeaders(names []string) {
	r.take(names)
	const short = 8 // who hides fewer bytes hides words
	for _, name := range names {
		for pair := range strings.SplitSeq(r.Get(name), ",") {
			_, value, _ := strings.Cut(pair, "=")
			if plain, err := url.PathUnescape(value); err == nil {
				value = plain
			}
			words := strings.Fields(value) // such as Bearer and the key
			if len(words) > 0 && len(words[len(words)-1]) >= short {
				r.Learn(words[len(words)-1])
			}
		}
	}
}

// Taken is what was taken out of the environment, as NAME=value, for another adze that this one
// starts.
func (r *Ring) Taken() (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, value := range r.taken {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// Of makes a ring that reads variables and leaves the process its own.
func Of(getenv func(string) string) *Ring { return &Ring{getenv: getenv} }

func (r *Ring) take(names []string) {
	if r.getenv != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			r.taken[name] = value
			_ = os.Unsetenv(name) // it fails for names that no variable can have
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

// Load reads the user's configuration, and takes the keys that it names out of the environment.
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
		// Spaces around a key are taken off. Inside, a line break is two lines that were pasted,
		// and no header can hold it.
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

// warnKeys warns of keys that stand in the file itself, where backups and screens show them.
func warnKeys(cfg *config.Config, path, text string) {
	told := 0
	for _, x := range redact.New().Spans(text) {
		if line := 1 + strings.Count(text[:x.Start], "\n"); line != told {
			told = line
			cfg.Warn(fmt.Sprintf("%s: line %d: a key or a password is written here; adze models login keeps one, and key_env or ${NAME} names a variable", path, line))
		}
	}
}

// Use has the ring know what the user gave to keep.
func (r *Ring) Use(kept *keyring.Store) { r.kept = kept }

// Store is what the user gave to keep.
func (r *Ring) Store() *keyring.Store { return r.kept }

// Has lists the providers for which a key is kept.
func (r *Ring) Has() ([]string, error) {
	if r.kept == nil {
		return nil, nil
	}
	return r.kept.Has()
}

// Key is the key that is kept for a provider and its host; if empty, none. It is hidden from then
// on.
func (r *Ring) Key(provider, host string) (string, error) {
	if r.kept == nil {
		return "", nil
	}
	key, err := r.kept.Key(provider, host)
	r.Hide(key)
	return key, err
}

// Hide has the masker know a key that came from elsewhere.
func (r *Ring) Hide(key string) {
	if key != "" {
		r.Learn(key)
	}
}

// maxLearned bounds what is looked for in every text.
const maxLearned = 1000

// Learn has nothing that lasts hold these values from now on.
func (r *Ring) Learn(values ...string) {
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

// remask makes the masker anew; one that is made beside it never takes the place of a later one.
func (r *Ring) remask() {
	r.making.Lock()
	defer r.making.Unlock()
	r.mu.Lock()
	cfg := r.config
	r.mu.Unlock()
	r.masker.Store(redact.New(r.Secrets(cfg)...))
}

// Secrets are the values that nothing lasting may hold: the keys of providers, and what of the
// other variables is a secret.
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

// Mask is what hides secrets in all that lasts or that others read; before the configuration is
// read it knows the keys of the providers that have names.
func (r *Ring) Mask() *redact.Masker {
	if m := r.masker.Load(); m != nil {
		return m
	}
	return redact.New(r.Secrets(config.Config{})...)
}
