// Package models chooses the model for a run and knows its server, context size and price.
//
// The one rule: a Finder queries a server only if the configuration does not answer, and every
// choice names its reason. Flags override it.
//
// Start reading at Finder.Choose. vendors.go is the provider table, endpoints.go the user's
// addresses and keys, hosts.go makes models, running.go finds models on this machine, behind.go
// queries addresses that are not a company's own; window.go and price.go know context sizes and
// prices; listing.go is "adze models"; near.go resolves names without a provider; ways.go lists the
// ways to get a model.
//
// Known limits: if a server does not report a model's context, only the configuration has it.
package models

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"adze/internal/config"
	"adze/internal/llm/script"
	"adze/internal/llm/wire"
)

// A Finder chooses models for one user, by configuration, keys, and local servers.
type Finder struct {
	getenv  func(string) string
	config  config.Config
	keys    KeyStore // may be nil
	servers *Servers
	// Refusals of models; may be nil.
	findings *wire.Findings
	run      func(ctx context.Context, argv []string) ([]byte, error)
	hide     func(string)
	File     string // the configuration's name, for messages
}

// Memory holds a Finder's other sources. Each one is optional.
type Memory struct {
	Keys     KeyStore       // the keyring
	Servers  *Servers       // shared results of queries
	Findings *wire.Findings // refusals from earlier processes
	// Run starts a program of the user that prints credentials, and returns its output.
	Run  func(ctx context.Context, argv []string) ([]byte, error)
	Hide func(string) // redacts a credential in everything stored
}

// New returns a Finder for a configuration read from file.
func New(cfg config.Config, file string, getenv func(string) string, m Memory) *Finder {
	if m.Servers == nil {
		m.Servers = &Servers{}
	}
	if m.Run == nil {
		m.Run = func(context.Context, []string) ([]byte, error) { return nil, errors.New("no program is started here") }
	}
	if m.Hide == nil {
		m.Hide = func(string) {}
	}
	return &Finder{run: m.Run, hide: m.Hide, getenv: getenv, config: cfg, keys: m.Keys, servers: m.Servers, findings: m.Findings, File: file}
}

// patience returns the timeout for servers on this machine: usual, or ADZE_PATIENCE (such as 10s)
// for a slow machine.
func (f *Finder) patience(usual time.Duration) time.Duration {
	d, err := time.ParseDuration(f.getenv("ADZE_PATIENCE"))
	if err != nil {
		return usual
	}
	return max(usual, d)
}

// KeyStore holds the keys in the keyring. The environment overrides them.
type KeyStore interface {
	// List lists the providers with a key, without reading keys.
	List() ([]string, error)
	// Key returns a host's key, or "".
	Key(provider, host string) (string, error)
}

// Keeps reports whether any key is stored for a provider.
func (f *Finder) Keeps(provider string) bool {
	if f.keys == nil {
		return false
	}
	has, _ := f.keys.List() // errors are reported where the key is needed
	return slices.Contains(has, provider)
}

// Choose uses the configuration (including --model), then a key in the environment (by the vendors'
// Rank), then a local server with a model that calls tools, or a server at a user's address with a
// single model.
func (f *Finder) Choose(ctx context.Context) (Model, error) {
	if m, ok, err := f.Configured(); ok {
		if err == nil {
			return m, nil
		}
		m, err = f.nearby(func() Listing { l, _ := f.ask(ctx, false); return l }, err)
		m.Origin = f.config.Origin("model")
		return m, err
	}
	return f.running(ctx)
}

// MissingError means that no model can be used. Hint lists the next steps.
type MissingError struct{ Message, Hint string }

// Error implements error.
func (e *MissingError) Error() string { return e.Message }

// Configured is Choose without queries: by the configuration, then by keys.
func (f *Finder) Configured() (m Model, ok bool, err error) {
	if f.config.Model != "" {
		m, err := f.Named(f.config.Model)
		m.Origin = f.config.Origin("model")
		return m, true, err
	}
	for _, v := range keyed() {
		if !f.bare(v.Name) {
			continue
		}
		m, err := f.Named(v.Name + "/" + v.Default)
		m.Origin = cmp.Or(f.variable(v), keptOrigin)
		return m, true, err
	}
	return Model{}, false, nil
}

// The origin of a model chosen by its stored key.
const keptOrigin = "the key that adze models login kept"

// variable returns the variable that holds a vendor's key, or "".
func (f *Finder) variable(v Vendor) string {
	if wire.FromEnv(f.getenv, v.Keys, nil).Key == "" {
		return ""
	}
	return v.Keys[0]
}

// bare reports whether the key in the variable implies a model by itself.
func (f *Finder) bare(name string) bool {
	v, _ := vendor(name)
	given := wire.FromEnv(f.getenv, v.Keys, v.URLs)
	return (given.Key != "" || f.Keeps(name)) && (given.BaseURL == "" || !v.DefaultURLOnly)
}

// Named resolves provider/name, or a name that only one provider has. While its server fails, the
// models of the setting fallback answer.
func (f *Finder) Named(full string) (Model, error) {
	m, err := f.named(full)
	if err != nil || len(f.config.Fallback) == 0 {
		return m, err
	}
	return f.withFallback(m)
}

func (f *Finder) named(full string) (Model, error) {
	provider, name, err := f.find(full)
	if err != nil {
		return Model{}, err
	}
	e, err := f.Endpoint(provider)
	switch {
	case err != nil:
		return Model{}, err
	case e.missing != nil:
		return Model{}, e.missing
	case e.astray():
		return Model{}, e.CheckUsable()
	case e.specialConstructor() != nil:
		return e.specialConstructor()(f, e, name)
	}
	return f.hosted(e, name)
}

func (f *Finder) script(_ Endpoint, name string) (Model, error) {
	p := script.New(script.Options{})
	if err := p.Check(name); err != nil {
		return Model{}, &MissingError{err.Error(), "name a script file: --model script/FILE"}
	}
	return Model{Provider: p, Name: name, Profile: Coder()}, nil
}
