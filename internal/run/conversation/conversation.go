// Package conversation is the second and third stage of a run: its parts (store, model, tools,
// guard), and its session.
//
// The one rule: it does not know how a conversation is shown or who answers questions. It gets the
// settings from the first stage, and functions to show events and ask (Person).
//
// Start reading at Build. It creates a base (base.go, with the choice of a model in model.go), the
// tools (tools.go, with subagents in subagent.go) and the conversation. ports.go has the operations
// for an interface.
package conversation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	projectagents "adze/internal/project/agents"
	"adze/internal/run/flags"
	"adze/internal/run/hostio"
	"adze/internal/run/process"
	"adze/internal/run/settings"
	"adze/internal/sandbox/proc"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/buffered"
	"adze/internal/sessiondb/lookup"
	"adze/internal/stream"
	"adze/internal/text/usage"
	"adze/internal/undo/recorder"
	"adze/session"
	"adze/session/api"
	"adze/tool"
	"adze/toolset"
)

// Conversation is a run with all its connected parts.
type Conversation struct {
	*tools
	Session    *session.Session
	Head       stream.Head
	Notices    []string
	Prompt     string // default prompt, for the demo
	Stored     session.Store
	Buffered   *buffered.Store // buffers unsaved entries; nil if never needed
	ChosenMode string          // mode chosen by the user for this folder, or ""
	resumed    bool            // a previous conversation continues
	entitled   bool            // a title was requested
	ended      []string        // subagents that ended with the session
	listed     sync.Mutex      // guards heads
	heads      []api.SessionHead
}

// Close ends everything the run has started. Later calls do nothing.
func (w *Conversation) Close() { w.end() }

// Open reads a run's settings and builds it.
func Open(ctx context.Context, p *process.Process, o flags.Request, observe func(session.Event), who UserCallbacks) (*Conversation, error) {
	if err := proc.CheckLimits(); err != nil {
		return nil, err
	}
	s, err := settings.Read(p, o)
	if err != nil {
		return nil, err
	}
	return Build(ctx, s, observe, who)
}

// OrAborted replaces the result of an aborted start by the abort's cause, which is clearer than its
// consequences.
func OrAborted(ctx context.Context, w *Conversation, err error) (*Conversation, error) {
	if ctx.Err() != nil {
		if err == nil {
			w.Close()
		}
		return nil, context.Cause(ctx)
	}
	return w, err
}

// Build connects a run: configuration, folder, store, model, policy, tools, session. After an error
// everything is closed.
func Build(ctx context.Context, s *settings.Settings, observe func(session.Event), who UserCallbacks) (w *Conversation, err error) {
	s.ReduceGC()
	x := newScope(observe, who)
	x.closers, x.notices = []func(){s.Close}, slices.Clone(s.Notices)
	p := newProject(ctx, x, s)
	logs := openLogs(ctx, x, s)
	defer func() {
		if err != nil {
			lost := lookup.Losses(logs.wait().store)
			x.end()
			s.TellLosses(slices.Concat(lost, s.Config.Warnings())) // the next start finds an intact store; a misspelled name may be the cause
		}
	}()
	c, err := choose(ctx, s, p.kinds, logs)
	if err == nil {
		err = c.useModel(ctx, x)
	}
	if err != nil {
		return nil, err
	}
	id, err := logs.id()
	if err != nil {
		return nil, err
	}
	b, err := newBase(x, p, c, id, func() session.Store { return logs.wait().store })
	if err != nil {
		return nil, err
	}
	t, err := newTools(ctx, b)
	if err != nil {
		return nil, err
	}
	r := logs.wait()
	if r.err != nil {
		return nil, r.err
	}
	return newConversation(ctx, t, r)
}

// newConversation opens a session for the tools, and shares it.
func newConversation(ctx context.Context, t *tools, r opened) (*Conversation, error) {
	s, o := t.Settings, &t.Settings.Request
	if err := t.Cage.Check(ctx); err != nil {
		return nil, usage.Mistake(sandboxHint, "--sandbox on: %v", err)
	}
	w := &Conversation{tools: t, Stored: r.store, Prompt: s.Prompt, Notices: slices.Concat(t.notices, lookup.Losses(r.store))}
	walls := t.Cage.Report(ctx)
	w.Notices = append(w.Notices, t.Cage.Box.Unheld(walls)...)
	w.Head = stream.Head{
		Version: process.Version, Session: string(t.id), Cwd: s.Root.Dir(), Model: t.model.Name, Provider: t.model.Provider.Name(), Agent: t.leader.Label(),
		Tools: t.Set.Load().Names(), PermissionMode: string(t.Gate.Mode()), Sandbox: stream.Sandbox{Level: string(walls.Level), Explanation: walls.Explanation},
	}
	w.tellProject(!o.Print && o.ByHand == nil)
	seen, notes := s.Operators.Session(t.id, s.Getenv, s.OwnFiles.Watch(w.toReview(), w.starts, func() bool {
		return slices.ContainsFunc(hostio.Jobs(w.deps.Shell.Jobs()), func(j api.Job) bool { return j.Running })
	}))
	w.Notices = append(w.Notices, notes...)
	if err := w.open(ctx, sessionParts{id: t.id, store: w.patience(r.store), clip: tool.Clip{Spill: outputsOf(t.base).Save}, observe: w.beside(seen)}, r.resumed); err != nil {
		return nil, err
	}
	if w.resumed {
		w.Notices = append(w.Notices, w.Staging.left()...)
	}
	w.share()
	return w, nil
}

// starts reports whether a tool may start programs.
func (w *Conversation) starts(name string) bool {
	d, known := w.Set.Load().Get(name)
	return !known || slices.Contains(slices.Concat(d.Permissions.Required, d.Permissions.Optional), tool.Execute)
}

// open opens the session. Background tasks from its last opening have ended, which the next prompt
// reports.
func (w *Conversation) open(ctx context.Context, x sessionParts, resumed bool) error {
	engine, err := newHooks(w.Settings, w.Guard)
	if err != nil {
		return err
	}
	var late []session.Note
	interrupted := false
	x.found = func(log []session.Entry) (err error) {
		interrupted = recorder.Interrupted(log)
		late, err = projectagents.Unreported(ctx, x.store, x.id, log)
		late = append(late, recorder.UndoNotes(log)...)
		return err
	}
	w.closers = append(w.closers, func() { w.ended = w.agents.Close() })
	if engine != nil {
		x.hooks, w.closers = engine.Fire, append(w.closers, engine.Close)
	}
	before := len(w.notices)
	w.main = w.sessionConfig(ctx, x)
	w.Notices = append(w.Notices, w.notices[before:]...)
	w.main.Restorer = toolset.Restorer{Deps: w.deps, Session: string(x.id)}
	if w.Session, err = openSession(ctx, w.main, w.Stored, resumed); err != nil {
		return err
	}
	w.later.Store(w.Session)
	w.resumed = resumed && len(w.Session.History()) > 0
	if interrupted {
		late = append(late, w.Keeper.FinishFor(ctx, w.folder())...)
	}
	for _, n := range late {
		w.Session.Note(n)
	}
	return nil
}

// openSession starts or resumes a session.
func openSession(ctx context.Context, c session.Config, stored session.Store, resumed bool) (*session.Session, error) {
	if !resumed {
		return session.New(c), nil
	}
	s, err := session.Resume(ctx, c)
	switch broken := lookup.Chain(ctx, stored, c.ID); {
	case broken != nil:
		return nil, broken
	case errors.Is(err, session.ErrLocked) || errors.Is(err, session.ErrNotFound):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	return s, nil
}
