package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"adze/internal/cmd"
	"adze/internal/cmd/print"
	"adze/internal/config"
	"adze/internal/config/keyring"
	"adze/internal/config/paths"
	"adze/internal/llm/models"
	"adze/internal/policy"
	"adze/internal/policy/policyconfig"
	"adze/internal/project/discovery"
	"adze/internal/project/skills"
	"adze/internal/project/trust"
	"adze/internal/run/signals"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/lookup"
	"adze/internal/sessiondb/natsstore"
	"adze/internal/sessiondb/remote"
	"adze/internal/sessiondb/retention"
	"adze/internal/text/safeterm"
	"adze/prompts"
	"adze/session"
	"adze/tool"
	"adze/tool/rank"
	"adze/toolset"
	"adze/tui"
)

// What commands ask of the program: cmd.Program.

// Config reads the user's configuration.
func (a *app) Config() (config.Config, *models.Finder, error) {
	cfg, err := a.keys.Load(a.ConfigFile())
	return cfg, a.models(cfg), err
}

// Keys is what the user gave to keep.
func (a *app) Keys() *keyring.Store { return a.keys.Store() }

// KeyTable is that of the interface.
func (a *app) KeyTable(bound map[string][]string) ([][3]string, []string) { return tui.KeyTable(bound) }

// ConfigFile is where that is written.
func (a *app) ConfigFile() string { return config.File(a.Getenv, paths.Of(a.Getenv).Config) }

// Failure sorts an error as a run does.
func (a *app) Failure(err error) session.Result { return failure(err) }

// Session is the one that a user means.
func (a *app) Session(heads []session.Head, prefix string) (session.ID, error) {
	return lookup.ByPrefix(heads, prefix)
}

// Here is this folder as sessions remember it.
func (a *app) Here() (string, error) {
	dir, err := a.folder(&options{}, nil)
	if err != nil {
		return "", err
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	return dir, nil
}

// Store looks into the store: it makes and changes nothing, unless the database must be mended to
// be read.
func (a *app) Store(ctx context.Context, use func(*sessiondb.Store) error) error {
	if url, err := a.far.URL(a.Getenv); err != nil || url != "" {
		if err == nil {
			err = a.far.Mirrored(ctx, url, a.Getenv, func(err error) {
				r := failure(err)
				a.Conclude(r.Cause, r.Message, r.Hint)
			}, use)
		}
		return err
	}
	path := filepath.Join(paths.Of(a.Getenv).State, "sessions.db")
	s, err := sessiondb.Look(ctx, path, sessiondb.Options{})
	if errors.Is(err, sessiondb.ErrDamaged) {
		s, err = sessiondb.Open(ctx, path, sessiondb.Options{})
	}
	if err != nil {
		return fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	a.tellLosses(lookup.Losses(s))
	return errors.Join(use(s), s.Close())
}

// Page lists the sessions that a filter chooses, wherever they are.
func (a *app) Page(ctx context.Context, f sessiondb.Filter) (heads []session.Head, total int, err error) {
	url, err := a.far.URL(a.Getenv)
	if err != nil {
		return nil, 0, err
	}
	if url != "" {
		return a.far.Page(ctx, url, a.Getenv, f)
	}
	err = a.Store(ctx, func(s *sessiondb.Store) error {
		if heads, total, err = s.Page(ctx, f); err != nil {
			return fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
		}
		return nil
	})
	return heads, total, err
}

// Logs opens the sessions of the server that keeps them.
func (a *app) Logs(ctx context.Context) (retention.Logs, func(), error) {
	url, err := a.far.URL(a.Getenv)
	if err != nil || url == "" {
		return nil, nil, err
	}
	logs, err := a.far.Open(ctx, url, a.Getenv, natsstore.Options{})
	if err != nil {
		return nil, nil, err
	}
	return logs, func() { _ = logs.Close() }, nil
}

// Change opens the store as a run does, and makes it when it is not there.
func (a *app) Change(ctx context.Context, use func(*sessiondb.Store) error) error {
	if err := a.far.Local(a.Getenv); err != nil {
		return err
	}
	s, err := sessiondb.Open(ctx, filepath.Join(paths.Of(a.Getenv).State, "sessions.db"), sessiondb.Options{Mask: a.keys.Log().Entry})
	if err != nil {
		return fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	a.tellLosses(lookup.Losses(s))
	return errors.Join(use(s), s.Close())
}

func (a *app) openStore(ctx context.Context, o *options, at paths.Places) (session.Store, error) {
	makeRoom(false)
	if o.noSession || o.demo {
		return sessiondb.NewMemory(), nil
	}
	if url, err := a.far.URL(a.Getenv); err != nil {
		return nil, err
	} else if url != "" {
		s, err := a.far.Open(ctx, url, a.Getenv, natsstore.Options{Mask: a.keys.Log().Entry, Lost: a.far.Lost})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	s, err := sessiondb.Open(ctx, filepath.Join(at.State, "sessions.db"), sessiondb.Options{Mask: a.keys.Log().Entry})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	return s, nil
}

// doubts tells what a user should know of the servers that keep a session.
func doubts(ctx context.Context, logs session.Store) []string { return remote.Doubts(ctx, logs) }

func (a *app) tellLosses(lines []string) {
	for _, line := range lines {
		fmt.Fprintf(a.Err, "! %s\n", safeterm.Name(line))
	}
}

// Tools makes the catalogue of this folder, without a model, a session or a gate.
func (a *app) Tools(ctx context.Context, use func(*tool.Set) error) error {
	w := &wired{}
	defer w.close()
	s, err := a.settle(&options{}, w)
	if err != nil {
		return err
	}
	deps := s.deps(w)
	deps.Search = a.searchEngine(s, w)
	registry, err := toolset.New(deps)
	if err != nil {
		return err
	}
	for _, mistake := range deps.Declared.Mistakes {
		print.Complain(print.Masked{To: a.Err, By: a.keys.Mask()}, mistake.Error(), "that tool is left out; the others work")
	}
	set, err := s.mcpServers(&options{}, w).set(ctx, registry, s.root.Dir())
	if err != nil {
		return err
	}
	return use(set)
}

// Offer is what a run in this folder chooses tools from: all that a coder gets, but the tool that
// finds others.
func (a *app) Offer(use func(cmd.Offer) error) error {
	w := &wired{}
	defer w.close()
	s, err := a.settle(&options{}, w)
	if err != nil {
		return err
	}
	return use(cmd.Offer{
		Config: s.config.Tools,
		Scorer: func(name string) (rank.Scorer, error) { return a.scorer(s, name) },
		Tools: func(ctx context.Context) ([]tool.Definition, error) {
			set, err := toolsFor(ctx, &options{}, s.deps(w), s.root.Dir(), models.Coder(), s.mcpServers(&options{}, w))
			if err != nil {
				return nil, err
			}
			return set.Named(func(name string) bool { return name != "tool_search" }).Definitions(), nil
		},
	})
}

// Context tells what the next request of a session would hold. No model, server or program is
// started, and nothing written.
func (a *app) Context(ctx context.Context, wish cmd.ContextWish, use func(cmd.Context) error) error {
	w, o := &wired{}, &options{asked: wish.Prompt, model: wish.Model, resume: wish.Session, resumeLast: wish.Last, bare: wish.Bare, Flags: wish.Flags}
	defer w.close()
	s, err := a.settle(o, w)
	if err != nil {
		return err
	}
	w.settle(ctx, o, s, a.Getenv("HOME"), func(session.Event) {})
	logs, id, err := a.copied(ctx, o, s)
	if err != nil {
		return err
	}
	m := a.unasked(ctx, o, w, logs, id)
	if w.session, err = a.unheard(ctx, o, w, m, logs, id); err != nil {
		return err
	}
	c := cmd.Context{Session: id, Cwd: s.root.Dir(), Profile: m.Profile.Prompt}
	c.Ledger, c.Offer = w.session.Expect(ctx, session.Input{Text: wish.Prompt})
	c.Tools, c.Texts = w.set.Names(), w.room.Listed()
	c.Found = w.states(ctx)
	if c.Runs, err = s.survey(); err != nil {
		w.notices = append(w.notices, err.Error())
	}
	c.Notices = w.notices
	return use(c)
}

// states tells of each command, skill and agent in files what becomes of it in this session.
func (w *wired) states(ctx context.Context) (out []cmd.Carried) {
	add := func(i discovery.Item, state, why string) {
		out = append(out, cmd.Carried{Kind: string(i.Kind), Name: i.Name, Origin: string(i.Origin), Path: i.Path, Bytes: i.Bytes, State: state, Why: why})
	}
	for _, i := range w.menu.Items {
		if i.Kind == discovery.Command && i.Origin != discovery.BuiltIn {
			state, why := i.State()
			add(i, state, why)
		}
	}
	for _, i := range w.menu.Skills {
		state, why := skills.State(ctx, i, w.session.System(), w.session.History())
		add(i, state, why)
	}
	index, indexed := prompts.Part(w.session.System(), "agents")
	for _, k := range w.kinds {
		if k.Path != "" {
			state, why := k.State(index, indexed, w.leader.Label())
			add(discovery.Item{Kind: discovery.Agent, Name: k.Name, Origin: k.Origin, Path: k.Path, Bytes: k.Bytes}, state, why)
		}
	}
	return out
}

// copied is the session that would be gone on with, in memory; without one it is empty.
func (a *app) copied(ctx context.Context, o *options, s settings) (session.Store, session.ID, error) {
	logs, id := sessiondb.NewMemory(), session.ID("")
	if o.resume == "" && !o.resumeLast {
		return logs, "", nil
	}
	err := a.Store(ctx, func(stored *sessiondb.Store) (err error) {
		if id, _, err = lookup.Pick(ctx, lookup.Wish{ID: o.resume, Last: o.resumeLast}, stored, s.root.Dir()); err != nil {
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

// unheard makes a session as a run does, for who only looks at what it would ask.
func (a *app) unheard(ctx context.Context, o *options, w *wired, m models.Model, logs session.Store, id session.ID) (*session.Session, error) {
	s := w.settings
	staff, err := employ(a, o, s, m, w)
	if err != nil {
		return nil, err
	}
	shelf, err := staff.equip(ctx)
	if err != nil {
		return nil, err
	}
	system, err := s.system(ctx, o, m.Profile.Prompt, w)
	if err != nil {
		return nil, err
	}
	if w.gate, err = policyconfig.New(s.config, o.Flags, w.ground(s.at.Spill), nil); err != nil {
		return nil, err
	}
	c := staff.led(ctx, a.requests(w, m, system, shelf))
	if c.Store, c.ID = logs, id; id == "" {
		return session.New(c), nil
	}
	return session.Resume(ctx, c)
}

// Gate makes the policy of a run with these flags, which asks nobody.
func (a *app) Gate(flags policyconfig.Flags, use func(*policy.Policy) error) error {
	w := &wired{}
	defer w.close()
	s, err := a.settle(&options{Flags: flags}, w)
	a.tellLosses(s.config.Warnings()) // a misspelt name may be why a verdict is not the one that was meant
	if err != nil {
		return err
	}
	w.settings, w.cage = s, s.cage(w)
	if w.gate, err = policyconfig.New(s.config, flags, w.ground(s.at.Spill), nil); err != nil {
		return err
	}
	return use(w.gate)
}

// Project is the workspace, with what the user allowed of what it carries.
func (a *app) Project(use func(trust.Project) error) error {
	w := &wired{}
	defer w.close()
	s, err := a.settle(&options{}, w)
	if err != nil {
		return err
	}
	return use(s.project())
}

// Call is a run whose model makes one call.
func (a *app) Call(call cmd.Call, use func(cmd.Called)) error {
	o := &options{Flags: call.Flags, maxTime: call.MaxTime, noSession: call.NoSession, byHand: call.Model, bare: true, taskComplete: true}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	stop := signals.Watch(cancel, func(c session.Cause) { os.Exit(print.ExitCode(c)) }, nil)
	defer stop()
	var end *session.ToolEnd
	w, err := a.wire(ctx, o, func(e session.Event) {
		if e, ok := e.(session.ToolEnd); ok && e.Parent == "" {
			end = &e
		}
	}, person{})
	if err != nil {
		return err
	}
	defer w.close()
	result := w.session.Prompt(ctx, session.Input{Text: call.Prompt})
	use(cmd.Called{Session: w.session.ID(), End: end, Result: result})
	return nil
}
