package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"adze/internal/project/worktree"
	"adze/internal/run/settings"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/lookup"
	"adze/internal/undo"
	"adze/internal/undo/recorder"
	"adze/session"
)

// Undoing opens a session and its folder to restore files. With look it works with read-only
// storage and another process's session; otherwise it first finishes an interrupted undo.
func (a *app) Undoing(ctx context.Context, look bool, pick func([]session.Head) (session.ID, error), use func(recorder.Manager) error) error {
	s, err := a.read(nil)
	if err != nil {
		return err
	}
	defer s.Close()
	if look && !writable(s.At.State, filepath.Join(s.At.State, "sessions.db"), s.At.Undo, recorder.Store(s.At.Undo, s.Root.Dir())) {
		return a.Store(ctx, func(logs *sessiondb.Store) error { return a.desk(ctx, s, true, logs, pick, use) })
	}
	stored, err := a.OpenStore(ctx, true)
	if err != nil {
		return err
	}
	defer stored.Close()
	if err = a.desk(ctx, s, false, stored, pick, use); look && errors.Is(err, session.ErrLocked) {
		err = a.desk(ctx, s, true, stored, pick, use)
	}
	return err
}

// writable reports whether every path can be written or does not exist.
func writable(paths ...string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool {
		err := mayWrite(path)
		return err != nil && !errors.Is(err, fs.ErrNotExist)
	})
}

// desk opens the folder of the picked session.
func (a *app) desk(ctx context.Context, s *settings.Settings, look bool, stored session.Store, pick func([]session.Head) (session.ID, error), use func(recorder.Manager) error) error {
	heads, err := stored.List(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	id, err := pick(heads)
	if err == nil && !look {
		err = lookup.Lock(ctx, stored, id)
	}
	if err != nil {
		return err
	}
	kept := s.Undoing(s.Root.Dir())
	for _, h := range heads {
		if cwd := h.Info().Cwd; h.ID == id && cwd != "" {
			kept = s.Undoing(cwd)
		}
	}
	kept.Look = look
	kept.Tell = func(text string) { a.TellLosses([]string{text}) }
	files := recorder.NewKeeper(kept)
	defer files.Close() // its table is only a cache
	d, err := files.Desk(ctx, recorder.Manager{Root: kept.Root, Store: stored, Session: id, Now: time.Now, Named: func(ctx context.Context) ([]undo.Named, error) {
		return recorder.Named(ctx, stored, kept.Root)
	}, Git: settings.Repositories(s.Config, kept.Root), Others: stored, Look: kept.Look})
	if err == nil && !kept.Look {
		_, err = d.Finish(ctx)
	}
	if err != nil {
		return err
	}
	return use(d)
}

// Worktrees passes the work tree manager for this folder to use.
func (a *app) Worktrees(use func(d worktree.Manager, dir string) error) error {
	dir, err := a.Here()
	if err != nil {
		return err
	}
	cfg, _, err := a.Config()
	if err != nil {
		return err
	}
	return use(settings.TreesOf(a.Process, cfg, dir), dir)
}
