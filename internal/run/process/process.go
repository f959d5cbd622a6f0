// Package process is adze's process before any run: environment and keys, configuration, stored
// sessions, models, and telemetry.
//
// The one rule: it knows neither flags nor runs.
//
// Start reading at Process.
package process

import (
	"context"
	"fmt"
	"io"
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
	"adze/internal/telemetry"
	"adze/internal/text/safeterm"
	"adze/session"
	"adze/tui/input"
)

// Version is the program's version. A release sets it at link time.
var Version = "0.1.0"

// Process is the current process.
type Process struct {
	cmd.Env
	Ring        *credentials.Ring
	Words       []string                                   // command line
	OwnFiles    OwnFiles                                   // permission-related files
	Operators   Operators                                  // telemetry
	Notes       *Notes                                     // messages for the user
	Wait        func(context.Context, time.Duration) error // delay before a model request is retried; nil uses a timer
	servers     models.Servers                             // detected servers at model addresses
	findings    *wire.Findings                             // features that models have refused
	easy        sync.Once                                  // guards ReduceGC
	PendingKeys input.PendingKeys                          // keys typed for the next interface
	underWay    sync.Once                                  // guards UnderWay
}

// New returns the process with its arguments after the program name, and its keys.
func New(args []string, e cmd.Env, ring *credentials.Ring) *Process {
	e.Getenv, e.Mask, e.Hide, e.Version = ring.Get, ring.Mask, ring.Hide, Version
	return &Process{Env: e, Ring: ring, Words: args, Notes: &Notes{to: e.Err},
		findings: wire.NewFindings(filepath.Join(paths.FromEnv(e.Getenv).State, "refusals.json"), time.Now)}
}

// ReduceGC makes garbage collection less frequent. A start allocates nearly as much as Go's first
// threshold.
func (p *Process) ReduceGC() { p.easy.Do(func() { gctuning.Start(p.UnderWay) }) }

// UnderWay releases memory that only the start needed. A short run would need it again.
func (p *Process) UnderWay() { p.underWay.Do(gctuning.ForgetStart) }

// Config reads the user's configuration.
func (p *Process) Config() (config.Config, *models.Finder, error) {
	cfg, err := p.Ring.Load(p.ConfigFile())
	return cfg, p.Models(cfg), err
}

// Keys returns the stored API keys.
func (p *Process) Keys() *keyring.Store { return p.Ring.Store() }

// ConfigFile returns the configuration's path.
func (p *Process) ConfigFile() string { return config.File(p.Getenv, paths.FromEnv(p.Getenv).Config) }

// Failure converts an error as a run does.
func (p *Process) Failure(err error) session.Result { return Failure(err) }

// Session returns the session whose id begins with prefix.
func (p *Process) Session(heads []session.Head, prefix string) (session.ID, error) {
	return lookup.ByPrefix(heads, prefix)
}

// Models returns a finder for a configuration.
func (p *Process) Models(cfg config.Config) *models.Finder {
	return models.New(cfg, p.ConfigFile(), p.Getenv, models.Memory{
		Keys: p.Ring, Servers: &p.servers, Findings: p.findings, Run: printedBy, Hide: p.Ring.Hide,
	})
}

func (p *Process) LookAround(ctx context.Context) (models.Listing, error) {
	_, find, err := p.Config()
	if err != nil {
		return models.Listing{}, err
	}
	return find.List(ctx, false), nil
}

// ByUser returns an error if a call of adze started this process.
func (p *Process) ByUser(what string) error { return cmd.ByUser(paths.FromEnv(p.Getenv), what) }

// Operators sends telemetry about this process. It is created on first use.
type Operators struct {
	once  sync.Once
	watch *telemetry.Watch
}

// Telemetry creates the telemetry as configured in the environment. notes are for the user and
// returned once.
func (w *Operators) Telemetry(getenv func(string) string) (made *telemetry.Watch, notes []string) {
	w.once.Do(func() {
		if w.watch, notes = telemetry.FromEnv(getenv, Version); w.watch != nil {
			w.watch.Provider = models.InSpans
		}
	})
	return w.watch, notes
}

// Close sends pending telemetry and reports failures.
func (w *Operators) Close(to io.Writer) {
	if note := w.watch.Close(); note != "" {
		fmt.Fprintf(to, "! traces: %s\n", safeterm.Name(note))
	}
}

// Session adds telemetry to a session's observer if configured. notes are for the user.
func (w *Operators) Session(id session.ID, getenv func(string) string, observe func(session.Event)) (seen func(session.Event), notes []string) {
	made, notes := w.Telemetry(getenv)
	return made.Session(id, observe), notes
}
