// Package process is what a process of adze has before it does anything: its environment and keys,
// the configuration, the sessions that are stored, models, and what tells operators of it.
//
// The one rule: it knows neither flags nor runs.
//
// Start reading at Process.
package process

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"adze/internal/cmd"
	"adze/internal/config"
	"adze/internal/config/keyring"
	"adze/internal/config/paths"
	"adze/internal/llm/credentials"
	"adze/internal/llm/models"
	"adze/internal/llm/wire"
	"adze/internal/run/gctuning"
	"adze/internal/sessiondb/lookup"
	"adze/session"
	"adze/tui/input"
)

// Version is that of the program. A release sets it when it is linked.
var Version = "0.1.0"

// Process is one process.
type Process struct {
	cmd.Env
	Ring      *credentials.Ring
	Words     []string                                   // of the command line
	Own       OwnFiles                                   // the files that say what this process may do
	Operators Operators                                  // tells operators
	Notes     *Notes                                     // to the user, beside what it does
	Wait      func(context.Context, time.Duration) error // before a model request is made again; if nil, a timer
	servers   models.Servers                             // what answers at addresses of models
	findings  *wire.Findings                             // what models refused
	easy      sync.Once                                  // the heap is
	Ahead     input.Ahead                                // what was typed for the interface that follows
	underWay  sync.Once                                  // the pages of the start are let go of
}

// New is this process, with the arguments after its name and the keys that it was given.
func New(args []string, e cmd.Env, ring *credentials.Ring) *Process {
	e.Getenv, e.Mask, e.Hide, e.Version = ring.Get, ring.Mask, ring.Hide, Version
	return &Process{Env: e, Ring: ring, Words: args, Notes: &Notes{to: e.Err},
		findings: wire.NewFindings(filepath.Join(paths.Of(e.Getenv).State, "refusals.json"), time.Now)}
}

// Ease has the garbage be collected more rarely. A start makes nearly as much as Go lets come
// together.
func (p *Process) Ease() { p.easy.Do(func() { gctuning.Ease(p.UnderWay) }) }

// UnderWay lets go of what only the start needed. A run of a few calls would need it again.
func (p *Process) UnderWay() { p.underWay.Do(gctuning.ForgetStart) }

// Config reads the user's configuration.
func (p *Process) Config() (config.Config, *models.Finder, error) {
	cfg, err := p.Ring.Load(p.ConfigFile())
	return cfg, p.Models(cfg), err
}

// Keys is what the user gave to keep.
func (p *Process) Keys() *keyring.Store { return p.Ring.Store() }

// ConfigFile is where that is written.
func (p *Process) ConfigFile() string { return config.File(p.Getenv, paths.Of(p.Getenv).Config) }

// Failure sorts an error as a run does.
func (p *Process) Failure(err error) session.Result { return Failure(err) }

// Session is the one that a user means.
func (p *Process) Session(heads []session.Head, prefix string) (session.ID, error) {
	return lookup.ByPrefix(heads, prefix)
}

// Models finds models for a configuration of this user.
func (p *Process) Models(cfg config.Config) *models.Finder {
	return models.New(cfg, p.ConfigFile(), p.Getenv, models.Memory{Keys: p.Ring, Servers: &p.servers, Findings: p.findings})
}

func (p *Process) LookAround(ctx context.Context) (models.Listing, error) {
	_, find, err := p.Config()
	if err != nil {
		return models.Listing{}, err
	}
	return find.List(ctx, false), nil
}

// ByUser returns an error where this process was started by a call of adze.
func (p *Process) ByUser(what string) error { return cmd.ByUser(paths.Of(p.Getenv), what) }
