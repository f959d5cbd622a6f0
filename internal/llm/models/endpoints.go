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

	"adze/internal/config"
	"adze/internal/llm/local"
	"adze/internal/llm/wire"
	"adze/session"
)

// An Endpoint is a vendor with this user's address and key. The environment overrides the
// configuration.
type Endpoint struct {
	Vendor
	KeyEnv    string // the key's variable
	Key       string // never shown
	NeedsKey  bool   // a company's own server
	InKeyring bool   // the key comes from the keyring
	unkept    error  // the keyring's error

	placed string // where an unusual address comes from
	base   string
	config config.Provider

	// Of clouds and gateways.
	missing   *MissingError // what cannot be filled in
	mentioned bool          // the user has set up a part of it
	signs     bool          // credentials are not a key
	signedBy  string        // names them
	header    http.Header
	query     url.Values
	http      *http.Client
	door      *wire.Door
	access    func(model string) (format wire.Format, base string, door *wire.Door) // of a cloud
	lists     []string                                                              // a cloud's addresses for its models
	lister    wire.Door                                                             // to them
}

// Endpoint finds a built-in or configured provider.
func (f *Finder) Endpoint(name string) (Endpoint, error) {
	p := f.config.Providers[name]
	v, known := vendor(cmp.Or(p.Cloud, name))
	if v.Name = name; !known && p.BaseURL == "" {
		return Endpoint{}, f.noProvider(name, "NAME")
	}
	keys := v.Keys
	if p.KeyEnv != "" {
		keys = []string{p.KeyEnv}
	}
	given := wire.FromEnv(f.getenv, keys, v.URLs)
	if p.Cloud != "" && p.BaseURL != "" { // a second resource, which has an address and a key of its own
		given.BaseURL = ""
	}
	if p.KeyEnv == "" && (p.AWSProfile != "" || p.Cloud == "azure" && p.BaseURL != "") {
		given.Key = ""
	}
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
	if len(keys) > 0 && e.specialConstructor() == nil { // hardly any Ollama needs a key, so it is not mentioned
		e.KeyEnv = keys[0]
	}
	e.NeedsKey = slices.Contains(homes(), wire.Host(e.base))
	if e.Key == "" && f.keys != nil {
		e.Key, e.unkept = f.keys.Key(cmp.Or(v.SameServerAs, v.Name), e.Host())
		e.InKeyring = e.Key != ""
	}
	client := f.gateway(&e)
	switch {
	case e.missing != nil:
		e.mentioned = true
		return e, nil
	case e.Cloud != "":
		f.enter(&e, client)
	}
	if len(p.KeyCommand) > 0 {
		f.commanded(&e, client)
	}
	return e, nil
}

// Endpoints returns the built-in providers, then the configured ones.
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
		e, err := f.Endpoint(name) // a run with a provider without an address reports that
		if err == nil && e.SameServerAs == "" && (e.Lacks() != nil || e.base != "" && (e.Cloud == "" || e.mentioned)) {
			out = append(out, e)
		}
	}
	return out
}

// Serving returns the endpoint that serves a model; false for recordings and scripts.
func (f *Finder) Serving(m Model) (Endpoint, bool) {
	v, _ := vendor(m.Provider.Name())
	e, err := f.Endpoint(cmp.Or(v.SameServerAs, v.Name))
	return e, err == nil && e.base != ""
}

func (e Endpoint) options() wire.Options {
	p := e.config
	return wire.Options{
		Header: e.header, HTTP: e.http, Door: joined(e.door, e.query),
		Name: e.Name, BaseURL: e.base, Key: e.Key, KeyEnv: cmp.Or(e.signedBy, e.KeySource(), e.KeyEnv, "its key"), URLEnv: cmp.Or(e.placed, e.URLs[0]),
		Effort: p.Effort, MaxContext: p.MaxContext,
	}
}

// options returns the adapter's options for one model, with the user's settings.
func (f *Finder) options(e Endpoint, model string) wire.Options {
	o, own := e.options(), f.own(e.Name, model)
	o.MaxTokens, o.Vision, o.Findings = own.Output, own.Vision, f.findings
	return o
}

// WithProgram returns the endpoint with the properties of the program found there.
func (e Endpoint) WithProgram(program local.Kind) Endpoint {
	for _, v := range vendors() {
		if v.ListsDetails == program {
			e.Program, e.Fetch = v.Program, v.Fetch
		}
	}
	return e
}

// DisplayURL returns the address without secrets.
func (e Endpoint) DisplayURL() string { return wire.DisplayURL(e.base) }

// Incomplete reports whether a needed key is missing or the address is invalid.
func (e Endpoint) Incomplete() bool {
	return e.missing != nil || e.astray() || e.NeedsKey && e.Key == "" && !e.signs
}

// astray reports whether the user's address is invalid.
func (e Endpoint) astray() bool {
	u, err := url.Parse(e.base)
	return e.placed != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "")
}

// lack describes the missing part, for a list.
func (e Endpoint) lack() string {
	if e.missing != nil {
		return e.missing.Message + "; " + e.missing.Hint
	}
	if e.astray() {
		return "no address in " + e.placed
	}
	return "set " + e.KeyEnv
}

// CheckUsable returns the error of a run without a key or with an invalid address.
func (e Endpoint) CheckUsable() error {
	if e.missing != nil {
		return e.missing
	}
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

// Host returns the address's host name.
func (e Endpoint) Host() string { return wire.Host(e.base) }

// KeySource describes the key's source, for the user; "" without a key.
func (e Endpoint) KeySource() string {
	switch {
	case e.Key == "":
		return ""
	case e.InKeyring:
		return "adze models login " + e.Name
	}
	return e.KeyEnv
}

// Unkept returns the error of reading the key from the keyring, or nil.
func (e Endpoint) Unkept() error { return e.unkept }

// Server returns the description for queries.
func (e Endpoint) Server() local.Server {
	s := local.Server{
		Kind: e.ListsDetails, Name: e.Name, Base: e.base, Secret: e.Key, URLHint: e.start(),
		KeyHint: "check " + cmp.Or(e.signedBy, e.KeySource(), e.KeyEnv, "its key") + " and what its account may use",
		HTTP:    e.http, Door: joined(e.door, e.query),
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
	for name := range e.header {
		s.Header = wire.WithHeader(s.Header, name, e.header.Get(name))
	}
	return s
}

// late makes a timeout's message blame the network or the server, not adze.
func late(server string, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &session.ProviderError{Kind: session.NetworkError, Message: server + " did not answer in time", Hint: "check the address and the network", Err: err}
}
