package models

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"adze/internal/llm/anthropic"
	"adze/internal/llm/discover"
	"adze/internal/llm/gemini"
	"adze/internal/llm/ollama"
	"adze/internal/llm/wire"
	"adze/session"
)

// Endpoint is a server that could be used: where it is and whether there is a key for it.
type Endpoint struct {
	Name, base string
	KeyEnv     string // empty: none is needed
	Key        string // never shown
	NeedsKey   bool
	list       string // where it lists its models
	header     http.Header
}

// Endpoints are those that are known by name, then those that the configuration describes.
func (f *Finder) Endpoints() []Endpoint {
	out := []Endpoint{f.anthropicEndpoint(), f.geminiEndpoint(), f.ollamaEndpoint()}
	var names []string
	for _, h := range hosts() {
		if h.name != "responses" { // one server with openai
			names = append(names, h.name)
		}
	}
	known := []string{"anthropic", "gemini", "ollama", "responses"}
	for _, name := range slices.Sorted(maps.Keys(f.config.Providers)) {
		if !slices.Contains(names, name) && !slices.Contains(known, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		h, err := f.host(name)
		if err != nil {
			continue // a provider without an address: a run with it says so
		}
		p := f.config.Providers[name]
		e := Endpoint{Name: name, base: h.base, KeyEnv: cmp.Or(p.KeyEnv, h.keyEnv), NeedsKey: !h.local}
		e.Key, e.list = f.key(p, strings.TrimSpace(f.getenv(h.keyEnv))), strings.TrimSuffix(h.base, "/")+"/models"
		e.header = http.Header{"Authorization": {"Bearer " + e.Key}}
		out = append(out, e)
	}
	return out
}

func (f *Finder) anthropicEndpoint() Endpoint {
	p := f.config.Providers["anthropic"]
	o, _ := anthropic.FromEnv(f.getenv)
	e := Endpoint{Name: "anthropic", base: cmp.Or(base(p, o.BaseURL), "https://api.anthropic.com"), KeyEnv: cmp.Or(p.KeyEnv, "ANTHROPIC_API_KEY"), Key: f.key(p, o.Key)}
	e.NeedsKey, e.list = f.AtHome("anthropic"), versionedList(e.base, "/v1")
	e.header = http.Header{"X-Api-Key": {e.Key}, "Anthropic-Version": {"2023-06-01"}}
	return e
}

func (f *Finder) geminiEndpoint() Endpoint {
	p := f.config.Providers["gemini"]
	o, _ := gemini.FromEnv(f.getenv)
	e := Endpoint{Name: "gemini", base: cmp.Or(base(p, o.BaseURL), "https://generativelanguage.googleapis.com"), KeyEnv: cmp.Or(p.KeyEnv, "GEMINI_API_KEY"), Key: f.key(p, o.Key)}
	e.NeedsKey, e.list = f.AtHome("gemini"), versionedList(e.base, "/v1beta")
	e.header = http.Header{"X-Goog-Api-Key": {e.Key}}
	return e
}

func (f *Finder) ollamaEndpoint() Endpoint {
	o := f.ollamaOptions()
	return Endpoint{Name: "ollama", base: o.BaseURL, Key: o.Key, list: o.BaseURL + "/api/tags", header: http.Header{"Authorization": {"Bearer " + o.Key}}}
}

func versionedList(base, version string) string {
	base = strings.TrimSuffix(base, "/")
	if !strings.HasSuffix(base, version) {
		base += version
	}
	return base + "/models"
}

// Shown is the address without what may be secret in it.
func (e Endpoint) Shown() string {
	u, err := url.Parse(e.base)
	if err != nil {
		return "(not an address)"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// near reports a model server on this machine, which is asked without --check.
func (e Endpoint) near() bool {
	_, local := tells(e.Name)
	return local && wire.Loopback(hostname(e.base))
}

// Missing reports that a key is needed and not there.
func (e Endpoint) Missing() bool { return e.NeedsKey && e.Key == "" }

// Lacking is the error of a run without the key.
func (e Endpoint) Lacking() error {
	return &MissingError{"there is no key for " + e.Name, "set " + e.KeyEnv + " to a key of your account there"}
}

// Server is how the endpoint is asked what it has.
func (e Endpoint) Server() discover.Server {
	kind, _ := tells(e.Name)
	s := discover.Server{
		Kind: kind, Name: e.Name, Base: e.base, List: e.list, Secret: e.Key, URLHint: host{name: e.Name}.start(),
		KeyHint: "check " + cmp.Or(e.KeyEnv, "its key") + " and what its account may use",
	}
	if e.Key != "" {
		s.Header = e.header
	}
	return s
}

// installed are the models of an Ollama.
func (f *Finder) installed(ctx context.Context) ([]ollama.Model, error) {
	return Installed(ctx, f.Ollama())
}

// Ollama is the Ollama of the person.
func (f *Finder) Ollama() *ollama.Provider { return ollama.New(f.ollamaOptions()) }

// Installed asks one for its models, and does not wait long for the answer.
func Installed(ctx context.Context, p *ollama.Provider) ([]ollama.Model, error) {
	ctx, cancel := context.WithTimeout(ctx, ollamaPatience)
	defer cancel()
	models, err := p.Models(ctx)
	return models, late("ollama", err)
}

// Native is the Ollama that was found at the endpoint.
func (e Endpoint) Native(root string) *ollama.Provider {
	return ollama.New(place{server: e.Server(), key: e.Key}.native(root))
}

// late says of a server that did not answer in time that the network or the server is to blame, not adze.
func late(server string, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &session.ProviderError{Kind: session.NetworkError, Message: server + " did not answer in time", Hint: "check the address and the network", Err: err}
}
