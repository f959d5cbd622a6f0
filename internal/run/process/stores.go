package process

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"adze/internal/config/paths"
	"adze/internal/run/hostio"
	"adze/internal/sandbox"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/lookup"
	"adze/internal/sessiondb/masking"
	"adze/internal/sessiondb/retention"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/session"
)

// Store opens the store for reading. It creates and changes nothing, unless the database must be
// repaired first.
func (p *Process) Store(ctx context.Context, use func(*sessiondb.Store) error) error {
	if err := p.storedHere(); err != nil {
		return err
	}
	path := filepath.Join(paths.FromEnv(p.Getenv).State, "sessions.db")
	s, err := sessiondb.Look(ctx, path, sessiondb.Options{})
	if errors.Is(err, sessiondb.ErrDamaged) {
		s, err = sessiondb.Open(ctx, path, sessiondb.Options{})
	}
	if err != nil {
		return fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	p.TellLosses(lookup.Losses(s))
	return errors.Join(use(s), s.Close())
}

// Page lists the sessions that match a filter.
func (p *Process) Page(ctx context.Context, f sessiondb.Filter) (heads []session.Head, total int, err error) {
	err = p.Store(ctx, func(s *sessiondb.Store) error {
		if heads, total, err = s.Page(ctx, f); err != nil {
			return fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
		}
		return nil
	})
	return heads, total, err
}

// storedHere rejects a former setting for remote storage: its user would look for sessions there.
func (p *Process) storedHere() error {
	if p.Getenv("ADZE_STORE") == "" {
		return nil
	}
	return usage.Mistake("unset ADZE_STORE; adze batch show --session has those of workers", "sessions are stored on this machine alone: ADZE_STORE is gone")
}

// Change opens the store for writing and creates it if missing.
func (p *Process) Change(ctx context.Context, use func(*sessiondb.Store) error) error {
	s, err := p.OpenDisk(ctx)
	if err != nil {
		return err
	}
	p.TellLosses(lookup.Losses(s))
	return errors.Join(use(s), s.Close())
}

// OpenStore opens a run's store, in memory if nothing is saved.
func (p *Process) OpenStore(ctx context.Context, saves bool) (session.Store, error) {
	if !saves {
		return sessiondb.NewMemory(), nil
	}
	s, err := p.OpenDisk(ctx)
	if err != nil {
		return nil, err // a nil *sessiondb.Store would be a non-nil interface
	}
	return s, nil
}

// OpenDisk opens the user's sessions and creates the file if missing. Secrets are masked in
// everything stored.
func (p *Process) OpenDisk(ctx context.Context) (*sessiondb.Store, error) {
	if err := p.storedHere(); err != nil {
		return nil, err
	}
	log := masking.Log{Mask: p.Ring.Mask}
	s, err := sessiondb.Open(ctx, filepath.Join(paths.FromEnv(p.Getenv).State, "sessions.db"), sessiondb.Options{Mask: log.Entry})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	return s, nil
}

// Forgets returns the places with data about a session.
func (p *Process) Forgets(s *sessiondb.Store) retention.DataPlaces {
	at := paths.FromEnv(p.Getenv)
	return retention.DataPlaces{
		Store: s, Outputs: at.Spill,
		Prompts: func(folder string, said []string) { hostio.NewMemory(at.State, folder).Forget(said) },
		Stage:   func(id session.ID) error { return sandbox.DropStages(at.State, string(id)) },
	}
}

// Tidy removes old sessions as configured.
func (p *Process) Tidy(ctx context.Context, s *sessiondb.Store) (retention.Done, error) {
	cfg, err := p.Ring.Load(p.ConfigFile())
	if err != nil {
		return retention.Done{}, err
	}
	keep := cfg.Sessions.Keep
	return p.Forgets(s).Tidy(ctx, retention.Rules{Age: time.Duration(keep.Days) * 24 * time.Hour, Count: keep.Count}, time.Now())
}

func (p *Process) TellLosses(lines []string) {
	for _, line := range lines {
		fmt.Fprintf(p.Notes, "! %s\n", safeterm.Name(line))
	}
}
