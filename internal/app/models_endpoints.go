package app

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"adze/internal/config"
	"adze/internal/llm/anthropic"
	"adze/internal/llm/discover"
	"adze/internal/llm/gemini"
	"adze/internal/llm/ollama"
	"adze/internal/llm/wire"
	"adze/session"
)

// endpoint is a server that could be used: where it is and whether there is a key for it.
type endpoint struct {
	name, base string
	keyEnv     string // empty: none is needed
	key        string // never shown
	needsKey   bool
	list       string // where it lists its models
	header     http.Header
}

// endpoints are those that are known by name, then those that the configuration describes.
func (a *app) endpoints(cfg config.Config) []endpoint {
	out := []endpoint{a.anthropicEndpoint(cfg), a.geminiEndpoint(cfg), a.ollamaEndpoint(cfg)}
	var names []string
	for _, h := range hosts() {
		if h.name != "responses" { // one server with openai
			names = append(names, h.name)
		}
	}
	known := []string{"anthropic", "gemini", "ollama", "responses"}
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		if !slices.Contains(names, name) && !slices.Contains(known, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		h, err := a.host(cfg, name)
		if err != nil {
			continue // a provider without an address: a run with it says so
		}
		p := cfg.Providers[name]
		e := endpoint{name: name, base: h.base, keyEnv: cmp.Or(p.KeyEnv, h.keyEnv), needsKey: !h.local}
		e.key, e.list = a.key(p, strings.TrimSpace(a.getenv(h.keyEnv))), strings.TrimSuffix(h.base, "/")+"/models"
		e.header = http.Header{"Authorization": {"Bearer " + e.key}}
		out = append(out, e)
	}
	return out
}

func (a *app) anthropicEndpoint(cfg config.Config) endpoint {
	p := cfg.Providers["anthropic"]
	o, _ := anthropic.FromEnv(a.getenv)
	e := endpoint{name: "anthropic", base: cmp.Or(base(p, o.BaseURL), "https://api.anthropic.com"), keyEnv: cmp.Or(p.KeyEnv, "ANTHROPIC_API_KEY"), key: a.key(p, o.Key)}
	e.needsKey, e.list = a.atHome(cfg, "anthropic"), versionedList(e.base, "/v1")
	e.header = http.Header{"X-Api-Key": {e.key}, "Anthropic-Version": {"2023-06-01"}}
	return e
}

func (a *app) geminiEndpoint(cfg config.Config) endpoint {
	p := cfg.Providers["gemini"]
	o, _ := gemini.FromEnv(a.getenv)
	e := endpoint{name: "gemini", base: cmp.Or(base(p, o.BaseURL), "https://generativelanguage.googleapis.com"), keyEnv: cmp.Or(p.KeyEnv, "GEMINI_API_KEY"), key: a.key(p, o.Key)}
	e.needsKey, e.list = a.atHome(cfg, "gemini"), versionedList(e.base, "/v1beta")
	e.header = http.Header{"X-Goog-Api-Key": {e.key}}
	return e
}

func (a *app) ollamaEndpoint(cfg config.Config) endpoint {
	o := a.ollamaOptions(cfg)
	return endpoint{name: "ollama", base: o.BaseURL, key: o.Key, list: o.BaseURL + "/api/tags", header: http.Header{"Authorization": {"Bearer " + o.Key}}}
}

func versionedList(base, version string) string {
	base = strings.TrimSuffix(base, "/")
	if !strings.HasSuffix(base, version) {
		base += version
	}
	return base + "/models"
}

// shown is the address without what may be secret in it.
func (e endpoint) shown() string {
	u, err := url.Parse(e.base)
	if err != nil {
		return "(not an address)"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// near reports a model server on this machine, which is asked without --check.
func (e endpoint) near() bool {
	_, local := tells(e.name)
	return local && wire.Loopback(hostname(e.base))
}

// missing reports that a key is needed and not there.
func (e endpoint) missing() bool { return e.needsKey && e.key == "" }

// lacking is the error of a run without the key.
func (e endpoint) lacking() error {
	return &noModelError{"there is no key for " + e.name, "set " + e.keyEnv + " to a key of your account there"}
}

// server is how the endpoint is asked what it has.
func (e endpoint) server() discover.Server {
	kind, _ := tells(e.name)
	s := discover.Server{
		Kind: kind, Name: e.name, Base: e.base, List: e.list, Secret: e.key, URLHint: host{name: e.name}.start(),
		KeyHint: "check " + cmp.Or(e.keyEnv, "its key") + " and what its account may use",
	}
	if e.key != "" {
		s.Header = e.header
	}
	return s
}

// installed are the models of an Ollama.
func (a *app) installed(ctx context.Context, cfg config.Config) ([]ollama.Model, error) {
	ctx, cancel := context.WithTimeout(ctx, ollamaPatience)
	defer cancel()
	models, err := ollama.New(a.ollamaOptions(cfg)).Models(ctx)
	return models, late("ollama", err)
}

// late says of a server that did not answer in time that the network or the server is to blame, not adze.
func late(server string, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &session.ProviderError{Kind: session.NetworkError, Message: server + " did not answer in time", Hint: "check the address and the network", Err: err}
}
