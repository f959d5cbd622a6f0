package run

import (
	"context"
	"os"

	"adze/internal/cmd"
	"adze/internal/cmd/signals"
	"adze/internal/policy"
	"adze/internal/policy/policyconfig"
	"adze/internal/project/trust"
	"adze/internal/run/conversation"
	"adze/internal/run/flags"
	"adze/internal/run/guard"
	"adze/internal/run/settings"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/lookup"
	"adze/internal/stream"
	"adze/session"
	"adze/tool"
	"adze/tui"
)

// What commands ask of the program: cmd.Program.

// KeyTable is that of the interface.
func (a *app) KeyTable(bound map[string][]string) ([][3]string, []string) { return tui.KeyTable(bound) }

// Here is this folder as sessions remember it.
func (a *app) Here() (string, error) {
	o := flags.New()
	return settings.RealFolderOf(a.Process, &o)
}

// read makes the settings of a command, for which nothing more than this is asked.
func (a *app) read(ask func(*flags.Request)) (*settings.Settings, error) {
	o := flags.Request{Run: flags.New()}
	if ask != nil {
		ask(&o)
	}
	return settings.Read(a.Process, o)
}

// Tools makes the catalogue of this folder, without a model, a session or a gate.
func (a *app) Tools(ctx context.Context, use func(*tool.Set) error) error {
	s, err := a.read(nil)
	if err != nil {
		return err
	}
	defer s.Close()
	return conversation.Catalogue(ctx, s, func(mistake error) {
		stream.Complain(stream.Masked{To: a.Err, By: a.Ring.Mask()}, mistake.Error(), "that tool is left out; the others work")
	}, use)
}

// Offered lists the tools that a run in this folder chooses from: all that a coder gets, but the
// tool that finds others.
func (a *app) Offered(ctx context.Context) ([]tool.Definition, error) {
	s, err := a.read(nil)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return conversation.Offered(ctx, s)
}

// Context tells what the next request of a session would hold. No model, server or program is
// started, and nothing written.
func (a *app) Context(ctx context.Context, wish cmd.ContextWish, use func(cmd.Context) error) error {
	s, err := a.read(func(o *flags.Request) {
		o.Asked, o.Model, o.Resume, o.ResumeLast, o.Bare, o.Flags = wish.Prompt, wish.Model, wish.Session, wish.Last, wish.Bare, wish.Flags
	})
	if err != nil {
		return err
	}
	defer s.Close()
	logs, id, err := a.copied(ctx, &s.Request, s)
	if err != nil {
		return err
	}
	return conversation.Expect(ctx, s, logs, id, use)
}

// copied is the session that would be gone on with, in memory; without one it is empty.
func (a *app) copied(ctx context.Context, o *flags.Request, s *settings.Settings) (session.Store, session.ID, error) {
	logs, id := sessiondb.NewMemory(), session.ID("")
	if o.Resume == "" && !o.ResumeLast {
		return logs, "", nil
	}
	err := a.Store(ctx, func(stored *sessiondb.Store) (err error) {
		if id, _, err = lookup.Pick(ctx, lookup.Wish{ID: o.Resume, Last: o.ResumeLast}, stored, s.Root.Dir()); err != nil {
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

// Gate makes the policy of a run with these flags, which asks nobody.
func (a *app) Gate(given policyconfig.Flags, use func(*policy.Policy) error) error {
	s, err := a.read(func(o *flags.Request) { o.Flags = given })
	if cfg, _, err := a.Config(); err == nil {
		a.TellLosses(cfg.Warnings()) // a misspelt name may be why a verdict is not the one that was meant
	}
	if err != nil {
		return err
	}
	defer s.Close()
	g, err := guard.New(s, guard.Wish{Spill: s.At.Spill})
	if err != nil {
		return err
	}
	defer g.Close()
	return use(g.Gate)
}

// Project is the workspace, with what the user allowed of what it carries.
func (a *app) Project(use func(trust.Project) error) error {
	s, err := a.read(nil)
	if err != nil {
		return err
	}
	defer s.Close()
	return use(s.Project())
}

// Call is a run whose model makes one call.
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
	}, conversation.Person{})
	if err != nil {
		return err
	}
	defer w.Close()
	result := w.Session.Prompt(ctx, session.Input{Text: call.Prompt})
	use(cmd.CallResult{Session: w.Session.ID(), Notices: w.Guard.Notices, End: end, Result: result})
	return nil
}
