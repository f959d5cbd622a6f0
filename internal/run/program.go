package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"adze/internal/cmd"
	"adze/internal/cmd/signals"
	"adze/internal/policy"
	"adze/internal/policy/policyconfig"
	"adze/internal/project/trust"
	"adze/internal/project/worktree"
	"adze/internal/run/conversation"
	"adze/internal/run/flags"
	"adze/internal/run/guard"
	"adze/internal/run/settings"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/lookup"
	"adze/internal/stream"
	"adze/internal/undo"
	"adze/internal/undo/recorder"
	"adze/session"
	"adze/tool"
	"adze/tui"
)

// Operations for the commands: cmd.Program.

// KeyTable returns the interface's key table.
func (a *app) KeyTable(bound map[string][]string) ([][3]string, []string) { return tui.KeyTable(bound) }

// CurrentFolder returns the current folder as stored in sessions.
func (a *app) CurrentFolder() (string, error) {
	o := flags.New()
	return settings.RealFolderOf(a.Process, &o)
}

// read passes a command's settings to use; ask may change the request.
func (a *app) read(ask func(*flags.Request), use func(*settings.Settings) error) error {
	o := flags.Request{Run: flags.New()}
	ask(&o)
	s, err := settings.Read(a.Process, o)
	if err != nil {
		return err
	}
	defer s.Close()
	return use(s)
}

// here passes this folder's settings to use.
func (a *app) here(use func(*settings.Settings) error) error {
	return a.read(func(*flags.Request) {}, use)
}

// Tools creates this folder's tools, without a model, a session or a policy.
func (a *app) Tools(ctx context.Context, use func(*tool.Set) error) error {
	return a.here(func(s *settings.Settings) error {
		return conversation.Catalogue(ctx, s, func(mistake error) {
			stream.Complain(stream.Masked{Writer: a.Err, Masker: a.Ring.Mask()}, mistake.Error(), "that tool is left out; the others work")
		}, use)
	})
}

// Offered lists the tools available to a run in this folder, without the tool search.
func (a *app) Offered(ctx context.Context) (out []tool.Definition, err error) {
	err = a.here(func(s *settings.Settings) (err error) {
		out, err = conversation.Offered(ctx, s)
		return err
	})
	return out, err
}

// Context computes the contents of a session's next request. It starts no model, server or program,
// and writes nothing.
func (a *app) Context(ctx context.Context, wish cmd.ContextWish, use func(cmd.Context) error) error {
	return a.read(func(o *flags.Request) {
		o.Asked, o.Model, o.Resume, o.ResumeLast, o.Bare, o.Flags = wish.Prompt, wish.Model, wish.Session, wish.Last, wish.Bare, wish.Flags
	}, func(s *settings.Settings) error {
		logs, id, err := a.copied(ctx, &s.Request, s)
		if err != nil {
			return err
		}
		return conversation.Expect(ctx, s, logs, id, use)
	})
}

// copied copies the session to continue into memory; without one the copy is empty.
func (a *app) copied(ctx context.Context, o *flags.Request, s *settings.Settings) (session.Store, session.ID, error) {
	logs, id := sessiondb.NewMemory(), session.ID("")
	if o.Resume == "" && !o.ResumeLast {
		return logs, "", nil
	}
	err := a.Store(ctx, func(stored *sessiondb.Store) (err error) {
		if id, _, err = lookup.Pick(ctx, lookup.Selection{ID: o.Resume, Last: o.ResumeLast}, stored, s.Root.Dir()); err != nil {
			return err
		}
		entries, err := stored.Load(ctx, id)
		if err != nil {
			return err
		}
		return logs.Append(ctx, id, entries...)
	})
	return logs, id, err
}

// Gate creates a run's policy with the given flags; it asks nobody.
func (a *app) Gate(given policyconfig.Flags, use func(*policy.Policy) error) error {
	if cfg, _, err := a.Config(); err == nil {
		a.TellLosses(cfg.Warnings()) // a misspelled name may explain an unexpected verdict
	}
	return a.read(func(o *flags.Request) { o.Flags = given }, func(s *settings.Settings) error {
		return guarded(s, func(g *guard.Guard) error { return use(g.Gate) })
	})
}

// guarded passes the folder's policy and sandbox, without a user, to use.
func guarded(s *settings.Settings, use func(*guard.Guard) error) error {
	g, err := guard.New(s, guard.Options{Spill: s.Places.Spill})
	if err != nil {
		return err
	}
	defer g.Close()
	return use(g)
}

// Project passes the workspace and the user's consent for its contents to use.
func (a *app) Project(use func(trust.Project) error) error {
	return a.here(func(s *settings.Settings) error { return use(s.Project()) })
}

// Call runs a single call from a scripted model.
func (a *app) Call(call cmd.Call, use func(cmd.CallResult)) error {
	o := &flags.Request{Run: flags.New(), ByHand: call.Model}
	o.Flags, o.MaxTime, o.NoSession, o.Bare, o.TaskComplete = call.Flags, call.MaxTime, call.NoSession, true, true
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	stop := signals.Watch(cancel, func(c session.Cause) { os.Exit(stream.ExitCode(c)) }, nil)
	defer stop()
	var end *session.ToolEnd
	w, err := conversation.Open(ctx, a.Process, *o, func(e session.Event) {
		if e, ok := e.(session.ToolEnd); ok && e.Parent == "" {
			end = &e
		}
	}, conversation.UserCallbacks{})
	if err != nil {
		return err
	}
	defer w.Close()
	w.Servers.Meet(ctx, func(text string) { w.Guard.Notices = append(w.Guard.Notices, text) })
	result := w.Session.Prompt(ctx, session.Input{Text: call.Prompt})
	use(cmd.CallResult{Session: w.Session.ID(), Notices: w.Guard.Notices, End: end, Result: result})
	return nil
}

// Undoing opens a session and its folder to restore files. With look it works with read-only
// storage and another process's session; otherwise it first finishes an interrupted undo.
func (a *app) Undoing(ctx context.Context, look bool, pick func([]session.Head) (session.ID, error), use func(recorder.Manager) error) error {
	return a.here(func(s *settings.Settings) error {
		if look && !writable(s.Places.State, filepath.Join(s.Places.State, "sessions.db"), s.Places.Undo, recorder.Store(s.Places.Undo, s.Root.Dir())) {
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
	})
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
	kept.Notify = func(text string) { a.TellLosses([]string{text}) }
	files := recorder.NewKeeper(kept)
	defer files.Close() // its table is only a cache
	d, err := files.CompleteManager(ctx, recorder.Manager{Root: kept.Root, Store: stored, Session: id, Now: time.Now, Named: func(ctx context.Context) ([]undo.Named, error) {
		return recorder.Named(ctx, stored, kept.Root)
	}, Git: settings.Repositories(s.Config, kept.Root), OtherSessions: stored, Look: kept.Look})
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
	dir, err := a.CurrentFolder()
	if err != nil {
		return err
	}
	trees, err := a.trees(dir)
	if err != nil {
		return err
	}
	return use(trees, dir)
}
