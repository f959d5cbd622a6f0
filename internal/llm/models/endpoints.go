package models

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"adze/internal/config"
	"adze/internal/llm/local"
	"adze/internal/llm/wire"
	"adze/session"
)

// Endpoint is a vendor where it is for this user: the environment wins over the file.
type Endpoint struct {
	Vendor
	KeyEnv   string // the variable that its key is taken from
	Key      string // never shown
	NeedsKey bool   // it is a company's own machine
	Kept     bool   // the key is one that the user gave to adze
	unkept   error  // why that could not be had

	placed string // where its address stands, when it is not the usual one
	base   string
	config config.Provider
}

// Endpoint finds a server that is known by name, or that the configuration describes.
func (f *Finder) Endpoint(name string) (Endpoint, error) {
	p := f.config.Providers[name]
	v, known := vendor(name)
	if !known && p.BaseURL == "" {
		return Endpoint{}, f.noProvider(name, "NAME")
	}
	keys := v.Keys
	if p.KeyEnv != "" {
		keys = []string{p.KeyEnv}
	}
	given := wire.FromEnv(f.getenv, keys, v.URLs)
	if v.Format.Address != nil {
		given.BaseURL = v.Format.Address(given.BaseURL)
		if !strings.Contains(p.BaseURL, "://") {
			p.BaseURL = v.Format.Address(p.BaseURL)
		}
	}
	e := Endpoint{Vendor: v, Key: given.Key, base: cmp.Or(given.BaseURL, p.BaseURL, v.Home), config: p}
	switch {
	case given.BaseURL != "":
		e.placed = v.URLs[slices.IndexFunc(v.URLs, func(url string) bool { return strings.TrimSpace(f.getenv(url)) != "" })]
	case p.BaseURL != "":
		e.placed = "providers." + name + ".base_url"
	}
	if len(keys) > 0 && e.own() == nil { // Ollama's own key is for a server that hardly anybody has: it is not told of
		e.KeyEnv = keys[0]
	}
	e.NeedsKey = slices.Contains(homes(), wire.Host(e.base))
	if e.Key == "" && f.kept != nil {
		e.Key, e.unkept = f.kept.Key(cmp.Or(v.SameServerAs, v.Name), e.Host())
		e.Kept = e.Key != ""
	}
	return e, nil
}

// Endpoints are those that are known by name, then those that the configuration describes.
func (f *Finder) Endpoints() []Endpoint {
	var names []string
	for _, v := range vendors() {
		names = append(names, v.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(f.config.Providers)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var out []Endpoint
	for _, name := range names {
		e, err := f.Endpoint(name) // a provider without an address: a run with it says so
		if err == nil && e.base != "" && e.SameServerAs == "" {
			out = append(out, e)
		}
	}
	return out
}

// Serving is the endpoint that answers for a model; if false, none does, it only says what was
// written before.
func (f *Finder) Serving(m Model) (Endpoint, bool) {
	v, _ := vendor(m.Provider.Name())
	e, err := f.Endpoint(cmp.Or(v.SameServerAs, v.Name))
	return e, err == nil && e.base != ""
}

// options are what an adapter is told of the endpoint.
func (e Endpoint) options() wire.Options {
	p := e.config
	return wire.Options{
		Name: e.Name, BaseURL: e.base, Key: e.Key, KeyEnv: cmp.Or(e.From(), e.KeyEnv, "its key"), URLEnv: cmp.Or(e.placed, e.URLs[0]),
		Effort: p.Effort, MaxContext: p.MaxContext,
	}
}

// options are those for one model, as the user describes it.
func (f *Finder) options(e Endpoint, model string) wire.Options {
	o, own := e.options(), f.own(e.Name, model)
	o.MaxTokens, o.Vision, o.Findings = own.Output, own.Vision, f.findings
	return o
}

// As is the endpoint with what is known of a program that was found to answer there.
func (e Endpoint) As(program local.Kind) Endpoint {
	for _, v := range vendors() {
		if v.Tells == program {
			e.Program, e.Fetch = v.Program, v.Fetch
		}
	}
	return e
}

// Shown is the address without what may be secret in it.
func (e Endpoint) Shown() string { return wire.Shown(e.base) }

// Missing reports that a key is needed and not there, or that the address is none: nothing can be
// asked.
func (e Endpoint) Missing() bool { return e.astray() || e.NeedsKey && e.Key == "" }

// astray reports an address of the user's that is none.
func (e Endpoint) astray() bool {
	u, err := url.Parse(e.base)
	return e.placed != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "")
}

// lack is what is missing, for a list.
func (e Endpoint) lack() string {
	if e.astray() {
		return "no address in " + e.placed
	}
	return "set " + e.KeyEnv
}

// Lacking is the error of a run without the key, or with an address that is none.
func (e Endpoint) Lacking() error {
	if e.astray() {
		return &MissingError{"the address of " + e.Name + " in " + e.placed + " is none", "write it whole, such as http://localhost:8080/v1 or https://api.example.com/v1"}
	}
	variable := "set " + cmp.Or(e.KeyEnv, "the variable that providers."+e.Name+".key_env names") + " to a key of your account there"
	var told interface{ Next() string }
	switch {
	case errors.As(e.unkept, &told):
		return &MissingError{e.unkept.Error(), told.Next() + "\n" + variable}
	case e.unkept != nil:
		return &MissingError{e.unkept.Error(), "unlock it, or give the key again: adze models login " + e.Name + "\n" + variable}
	}
	return &MissingError{"there is no key for " + e.Name, "adze models login " + e.Name + ", or " + variable}
}

// Host is the name of the machine where it answers.
func (e Endpoint) Host() string { return wire.Host(e.base) }

// From is where the key comes from, for the user; if empty, there is none.
func (e Endpoint) From() string {
	switch {
	case e.Key == "":
		return ""
	case e.Kept:
		return "adze models login " + e.Name
	}
	return e.KeyEnv
}

// Unkept is why a key that was kept could not be had; if nil, nothing is wrong.
func (e Endpoint) Unkept() error { return e.unkept }

// Server is how the endpoint is asked what it has.
func (e Endpoint) Server() local.Server {
	s := local.Server{
		Kind: e.Tells, Name: e.Name, Base: e.base, Secret: e.Key, URLHint: e.start(),
		KeyHint: "check " + cmp.Or(e.From(), e.KeyEnv, "its key") + " and what its account may use",
	}
	if e.Format.List != nil {
		s.List = e.Format.List(e.base)
	}
	switch {
	case e.Key == "":
	case e.Format.Header != nil:
		s.Header = e.Format.Header(e.Key)
	default:
		s.Header = wire.Bearer(nil, e.Key)
	}
	return s
}

// late says of a server that did not answer in time that the network or the server is to blame, not
// adze.
func late(server string, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &session.ProviderError{Kind: session.NetworkError, Message: server + " did not answer in time", Hint: "check the address and the network", Err: err}
}
