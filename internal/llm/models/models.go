// Package models finds the model that a run uses: which one, where it is, what it takes and what it
// costs.
//
// The one rule: a Finder asks a server only when nothing that is written down answers, and what it
// finds says where it comes from. It decides nothing that a flag decides.
//
// Start reading at Finder.Choose. vendors.go is the table of providers, endpoints.go where they are
// for this user, hosts.go how a model is made of one, local.go finds those that run on this
// machine, behind.go what answers at an address that is no company's own; window.go and price.go
// are what a model holds and costs; listing.go is adze models; near.go what a name without a
// provider means; ways.go tells who has no model how to get one.
//
// Known limits: of a server that tells nothing, the context of a model is known only from the
// configuration.
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
	"adze/internal/text/usage"
)

// Finder chooses models for one person: by their configuration, the keys in their environment, and
// what runs on this machine.
type Finder struct {
	getenv  func(string) string
	config  config.Config
	kept    Kept // if nil, nothing is kept
	servers *Servers
	// findings are what refusals of models said; if nil, none are kept.
	findings *wire.Findings
	File     string // of the configuration, for what the user is told
}

// Memory is what a finder knows beside the configuration. Each part is optional.
type Memory struct {
	Keys     Kept           // that the user gave to adze
	Servers  *Servers       // found at addresses by others
	Findings *wire.Findings // of earlier processes, from refusals
}

// New makes a finder for a configuration that was read from a file.
func New(cfg config.Config, file string, getenv func(string) string, m Memory) *Finder {
	if m.Servers == nil {
		m.Servers = &Servers{}
	}
	return &Finder{getenv: getenv, config: cfg, kept: m.Keys, servers: m.Servers, findings: m.Findings, File: file}
}

// patience is how long somebody on this machine may take to answer, as it is usual or as the user
// says: ADZE_PATIENCE=10s is for a machine that is slow to say what runs on it.
func (f *Finder) patience(usual time.Duration) time.Duration {
	d, err := time.ParseDuration(f.getenv("ADZE_PATIENCE"))
	if err != nil {
		return usual
	}
	return max(usual, d)
}

// Kept are the keys that the user gave to adze. They count after the environment.
type Kept interface {
	// Has lists the providers that have one; no key is looked up for that.
	Has() ([]string, error)
	// Key is the one for a host; if empty, none.
	Key(provider, host string) (string, error)
}

// Keeps reports a key that is kept for a provider, for whatever host.
func (f *Finder) Keeps(provider string) bool {
	if f.kept == nil {
		return false
	}
	has, _ := f.kept.Has() // what is wrong is told where the key is wanted
	return slices.Contains(has, provider)
}

// Choose follows the configuration (with --model in it), then a key in the environment (by the Rank
// of vendors), then a server on this machine that has a model which can call tools, or one whose
// address the user gave that has one model.
func (f *Finder) Choose(ctx context.Context) (Model, error) {
	if m, ok, err := f.Configured(); ok {
		if err == nil {
			return m, nil
		}
		m, err = f.nearby(func() Listing { l, _ := f.ask(ctx, false); return l }, err)
		m.Origin = f.config.Origin("model")
		return m, err
	}
	m, ok, why := f.running(ctx)
	if ok {
		return m, nil
	}
	why = slices.Concat(why, f.almost())
	return Model{}, &MissingError{"no model is configured", usage.Hints(append(why[:min(len(why), 2)],
		"set "+list("or", Keyed())+" to a key, or start "+list("or", programs()), "name one with --model; adze models lists them", "adze --demo shows it without a model")...)}
}

// MissingError says that no model can be used, and the next moves.
type MissingError struct{ Message, Hint string }

// Error implements error.
func (e *MissingError) Error() string { return e.Message }

func asMissing(err error, into **MissingError) bool { return errors.As(err, into) }

// Configured is the part of the choice that asks nobody: the configuration, then the keys.
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

// keptOrigin is what says that a model is used whose key was kept.
const keptOrigin = "the key that adze models login kept"

// variable is the one that holds the key of a vendor; if empty, none does.
func (f *Finder) variable(v Vendor) string {
	if wire.FromEnv(f.getenv, v.Keys, nil).Key == "" {
		return ""
	}
	return v.Keys[0]
}

// bare reports a key that means a model by itself.
func (f *Finder) bare(name string) bool {
	v, _ := vendor(name)
	given := wire.FromEnv(f.getenv, v.Keys, v.URLs)
	return (given.Key != "" || f.Keeps(name)) && (given.BaseURL == "" || !v.DefaultURLOnly)
}

// Named reads provider/name, or a name that only one provider has.
func (f *Finder) Named(full string) (Model, error) {
	provider, name, err := f.find(full)
	if err != nil {
		return Model{}, err
	}
	e, err := f.Endpoint(provider)
	switch {
	case err != nil:
		return Model{}, err
	case e.astray():
		return Model{}, e.Lacking()
	case e.own() != nil:
		return e.own()(f, e, name)
	}
	return f.hosted(e, name)
}

// script makes the model of a file.
func (f *Finder) script(_ Endpoint, name string) (Model, error) {
	p := script.New(script.Options{})
	if err := p.Check(name); err != nil {
		return Model{}, &MissingError{err.Error(), "name a script file: --model script/FILE"}
	}
	return Model{Provider: p, Name: name, Profile: Coder()}, nil
}
