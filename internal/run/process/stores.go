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
	"adze/internal/sessiondb/natsstore"
	"adze/internal/sessiondb/retention"
	"adze/internal/text/safeterm"
	"adze/session"
)

// Store looks into the store: it makes and changes nothing, unless the database must be mended to
// be read.
func (p *Process) Store(ctx context.Context, use func(*sessiondb.Store) error) error {
	if url, err := p.Remote.URL(p.Getenv); err != nil || url != "" {
		if err == nil {
			err = p.Remote.Mirrored(ctx, url, p.Getenv, func(err error) {
				r := Failure(err)
				p.Conclude(r.Cause, r.Message, r.Hint)
			}, use)
		}
		return err
	}
	path := filepath.Join(paths.Of(p.Getenv).State, "sessions.db")
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

// Page lists the sessions that a filter chooses, wherever they are.
func (p *Process) Page(ctx context.Context, f sessiondb.Filter) (heads []session.Head, total int, err error) {
	url, err := p.Remote.URL(p.Getenv)
	if err != nil {
		return nil, 0, err
	}
	if url != "" {
		return p.Remote.Page(ctx, url, p.Getenv, f)
	}
	err = p.Store(ctx, func(s *sessiondb.Store) error {
		if heads, total, err = s.Page(ctx, f); err != nil {
			return fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
		}
		return nil
	})
	return heads, total, err
}

// Logs opens the sessions of the server that keeps them.
func (p *Process) Logs(ctx context.Context) (retention.Logs, func(), error) {
	url, err := p.Remote.URL(p.Getenv)
	if err != nil || url == "" {
		return nil, nil, err
	}
	logs, err := p.Remote.Open(ctx, url, p.Getenv, natsstore.Options{})
	if err != nil {
		return nil, nil, err
	}
	return logs, func() { _ = logs.Close() }, nil
}

// Change opens the store as a run does, and makes it when it is not there.
func (p *Process) Change(ctx context.Context, use func(*sessiondb.Store) error) error {
	if err := p.Remote.Local(p.Getenv); err != nil {
		return err
	}
	s, err := sessiondb.Open(ctx, filepath.Join(paths.Of(p.Getenv).State, "sessions.db"), sessiondb.Options{Mask: p.Ring.Log().Entry})
	if err != nil {
		return fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	p.TellLosses(lookup.Losses(s))
	return errors.Join(use(s), s.Close())
}

// OpenStore opens the store of a run: in memory where nothing of it is saved.
func (p *Process) OpenStore(ctx context.Context, saves bool) (session.Store, error) {
	if !saves {
		return sessiondb.NewMemory(), nil
	}
	if url, err := p.Remote.URL(p.Getenv); err != nil {
		return nil, err
	} else if url != "" {
		s, err := p.Remote.Open(ctx, url, p.Getenv, natsstore.Options{Mask: p.Ring.Log().Entry, Lost: p.Remote.Lost})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	s, err := sessiondb.Open(ctx, filepath.Join(paths.Of(p.Getenv).State, "sessions.db"), sessiondb.Options{Mask: p.Ring.Log().Entry})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	return s, nil
}

// Forgets knows where everything is that was kept of a session.
func (p *Process) Forgets(s *sessiondb.Store) retention.Room {
	at := paths.Of(p.Getenv)
	return retention.Room{
		Store: s, Outputs: at.Spill,
		Prompts: func(folder string, said []string) { hostio.NewMemory(at.State, folder).Forget(said) },
		Stage:   func(id session.ID) error { return sandbox.DropStages(at.State, string(id)) },
	}
}

// Tidy lets sessions go as the configuration says.
func (p *Process) Tidy(ctx context.Context, s *sessiondb.Store) (retention.Done, error) {
	cfg, err := p.Ring.Load(p.ConfigFile())
	if err != nil {
		return retention.Done{}, err
	}
	keep := cfg.Sessions.Keep
	return p.Forgets(s).Tidy(ctx, retention.Rules{Age: time.Duration(keep.Days) * 24 * time.Hour, Count: keep.Count, Bytes: int64(keep.TotalMB) << 20}, time.Now())
}

func (p *Process) TellLosses(lines []string) {
	for _, line := range lines {
		fmt.Fprintf(p.Notes, "! %s\n", safeterm.Name(line))
	}
}
