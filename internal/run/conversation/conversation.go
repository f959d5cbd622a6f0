// Package conversation is the second and third stage of a run: its parts (store, model, tools,
// guard), and its session.
//
// The one rule: it does not know how a conversation is shown or who answers questions. It gets the
// settings from the first stage, and functions to show events and ask (Person).
//
// Start reading at Build, then model.go (the choice of a model), subagent.go (tools, subagents, the
// session) and ports.go (operations for an interface).
package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/editors/lsp"
	"adze/internal/files/workspace"
	"adze/internal/llm/models"
	projectagents "adze/internal/project/agents"
	"adze/internal/project/commands"
	"adze/internal/project/instructions"
	"adze/internal/project/plan"
	"adze/internal/project/skills"
	"adze/internal/run/flags"
	"adze/internal/run/guard"
	"adze/internal/run/hostio"
	"adze/internal/run/process"
	"adze/internal/run/servers"
	"adze/internal/run/settings"
	"adze/internal/sandbox/proc"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/buffered"
	"adze/internal/sessiondb/lookup"
	sessiondboutputs "adze/internal/sessiondb/outputs"
	"adze/internal/stream"
	"adze/internal/text/usage"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// Conversation is a run with all its connected parts.
type Conversation struct {
	id session.ID
	*guard.Guard
	*clientAccess
	Settings *settings.Settings
	Session  *session.Session
	Set      atomic.Pointer[tool.Set] // tools may join while panes read it
	Servers  *servers.Servers         // nil without servers
	code     *lsp.Servers             // nil without servers
	Head     stream.Head
	model    models.Model // the model in Head
	Notices  []string
	losses   []string // notices about losses from a damaged store
	Prompt   string   // default prompt, for the demo
	resumed  bool     // a previous conversation continues
	entitled bool     // a title was requested
	closers  []func()
	Staging  *Staging // staged turns
	agents   *projectagents.Agents
	Room     *instructions.Room
	own      ownCommand
	observe  func(session.Event)
	Patient  *buffered.Store // buffers unsaved entries; nil if never needed
	plan     *plan.Manager
	Chosen   string         // mode chosen by the user for this folder, or ""
	Menu     *commands.Menu // slash commands
	shelf    *skills.Shelf
	Stored   session.Store
	jobs     *proc.Jobs          // background jobs
	seen     *workspace.Seen     // file versions known to sessions
	kinds    projectagents.Kinds // available agents
	leader   projectagents.Kind  // leading agent; adze's own if its name is empty
	ended    []string            // subagents that ended with the session
	listed   sync.Mutex          // guards heads
	heads    []api.SessionHead   // as last listed
}

// Close ends everything the run has started, in reverse order. Later calls do nothing.
func (w *Conversation) Close() {
	for _, end := range slices.Backward(w.closers) {
		end()
	}
	w.closers = nil
}

// starts reports whether a tool may start programs.
func (w *Conversation) starts(name string) bool {
	d, known := w.Set.Load().Get(name)
	return !known || slices.Contains(slices.Concat(d.Permissions.Required, d.Permissions.Optional), tool.Execute)
}

// Open reads a run's settings and builds it.
func Open(ctx context.Context, p *process.Process, o flags.Request, observe func(session.Event), who Person) (*Conversation, error) {
	if err := proc.CheckLimits(); err != nil {
		return nil, err
	}
	s, err := settings.Read(p, o)
	if err != nil {
		return nil, err
	}
	return Build(ctx, s, observe, who)
}

// useChoice applies the choice of model and agent.
func (w *Conversation) useChoice(c *choice) {
	w.Settings, w.leader, w.Notices = c.settings, c.leader, append(w.Notices, c.notices...)
}

// addGuard creates the run's guard.
func (w *Conversation) addGuard(n guard.Wish) (err error) {
	n.Lent = w.shelf.Lent(w.Settings.Root.Dir())
	if w.Guard, err = guard.New(w.Settings, n); err != nil {
		return err
	}
	w.closers, w.Notices = append(w.closers, w.Guard.Close), append(w.Notices, w.Guard.Notices...)
	w.Staging = &Staging{w.StageOf(w.id), func() *session.Session { return w.Session }, w.observe}
	return nil
}

// useServers creates the run's MCP servers.
func (w *Conversation) useServers() {
	m, notices := servers.New(w.Settings, servers.Host{Guard: w.Guard, Inquire: w.inquire(), Tell: func(text string) { w.observe(session.Notice{Text: text}) }})
	w.Servers, w.Notices = m, append(w.Notices, notices...)
	if m != nil && w.Menu != nil { // there is no menu for listing tools
		w.Menu.Others = m.Other
	}
	w.closers = append(w.closers, m.Close)
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

// Build connects a run: configuration, folder, store, model, tools, policy, session. After an error
// everything is closed.
func Build(ctx context.Context, s *settings.Settings, observe func(session.Event), who Person) (w *Conversation, err error) {
	a := s.Process
	a.Ease()
	w = &Conversation{clientAccess: &clientAccess{person: who, tell: observe}, observe: observe}
	w.closers = append(w.closers, s.Close)
	shared := w.clientAccess.observe
	show := func(e session.Event) { observe(e); shared(e) }
	told := show
	if who.Unseen { // tag the session before anyone sees the end
		told = func(e session.Event) {
			if err := toReview(w.Stored, w.id, e); err != nil {
				show(session.Notice{Text: "the session is not marked for review: " + a.Ring.Mask().Text(err.Error())})
			}
			show(e)
		}
	}
	w.observe = a.Own.Watch(told, w.starts, func() bool {
		return slices.ContainsFunc(hostio.Jobs(w.jobs), func(j api.Job) bool { return j.Running })
	})
	defer func() {
		if err != nil {
			w.Close()
			a.TellLosses(slices.Concat(w.losses, w.Settings.Config.Warnings())) // the next start finds an intact store; a misspelled name may be the cause
		}
	}()
	w.settle(ctx, s, w.observe)
	logs := openLogs(ctx, w)
	chosen, err := choose(ctx, s, w.kinds, logs)
	if err != nil {
		return w, err
	}
	model, end, err := chosen.model(ctx)
	if err != nil {
		return w, err
	}
	w.closers = append(w.closers, end)
	w.useChoice(chosen)
	s = w.Settings
	o := &s.Request
	if w.id, err = logs.id(); err != nil {
		return w, err
	}
	id := w.id
	factory, err := newSubagents(model, w)
	if err != nil {
		return w, err
	}
	err = w.addGuard(guard.Wish{Spill: filepath.Join(s.At.Spill, string(id)), Ask: w.asker(), Inquire: w.inquire(), Own: w.own.runs, Observe: w.observe, Stored: func() session.Store {
		stored, _, _, _ := logs.wait()
		return stored
	}})
	if err != nil {
		return w, err
	}
	offer, err := factory.makeTools(ctx)
	if err != nil {
		return w, err
	}
	system, err := w.system(ctx, model.Profile.Prompt)
	if err != nil {
		return w, err
	}
	stored, _, resumed, err := logs.wait()
	if err != nil {
		return w, err
	}
	w.jobs = factory.deps.Shell.Jobs()
	outputs := sessiondboutputs.Into(filepath.Join(s.At.Spill, string(id)))
	outputs.Mask = a.Ring.Mask
	keep := outputs.Open
	if s.Hide != nil {
		keep = outputs.OpenMasked // the shell masks its output
	}
	factory.deps.Shell.Spill, factory.spill = keep, keep
	w.Stored = stored
	if err := w.describeRun(ctx, id, model); err != nil {
		return w, err
	}
	w.tellProject(!o.Print && o.ByHand == nil)
	seen, notes := a.Operators.Session(id, a.Getenv, w.observe)
	w.Notices = append(w.Notices, notes...)
	err = factory.open(ctx, sessionParts{
		id: id, store: w.patience(stored), system: system, offer: offer, observe: w.beside(a.UnderWay, w.Ledger, seen),
		clip: tool.Clip{Spill: outputs.Save},
	}, resumed)
	if err == nil && w.resumed {
		w.Notices = append(w.Notices, w.Staging.left()...)
	}
	if err == nil {
		w.share()
	}
	return w, err
}

// describeRun fills in Head. It returns an error if a required sandbox is missing.
func (w *Conversation) describeRun(ctx context.Context, id session.ID, model models.Model) error {
	if err := w.Cage.Check(ctx); err != nil {
		return usage.Mistake(sandboxHint, "--sandbox on: %v", err)
	}
	walls := w.Cage.Now(ctx)
	w.model = model
	w.Notices = append(w.Notices, w.Cage.Box.Unheld(walls)...)
	w.Head = stream.Head{
		Version: process.Version, Session: string(id), Cwd: w.Settings.Root.Dir(), Model: model.Name, Provider: model.Provider.Name(),
		Tools: w.Set.Load().Names(), PermissionMode: string(w.Gate.Mode()), Sandbox: stream.Sandbox{Level: string(walls.Level), How: walls.How},
	}
	return nil
}

// openLogs opens the store and picks the session in the background: like creating the tools, this
// takes about a millisecond. The returned opening waits for the result.
func openLogs(ctx context.Context, w *Conversation) storeOpening {
	type opened struct {
		store   session.Store
		id      session.ID
		resumed bool
		err     error
	}
	s, o, fresh := w.Settings, &w.Settings.Request, session.ID("")
	if o.Resume == "" && !o.ResumeLast {
		fresh = session.ID(cmp.Or(o.As, string(session.NewID(time.Now()))))
	}
	wait := make(chan opened, 1)
	go func() {
		var r opened
		if r.store, r.err = s.OpenStore(ctx, o.Saves()); r.err == nil && fresh != "" && o.As == "" {
			r.id = fresh
		} else if r.err == nil {
			r.id, r.resumed, r.err = lookup.Pick(ctx, lookup.Wish{ID: o.Resume, Last: o.ResumeLast, Fork: o.Fork, As: o.As}, r.store, s.Root.Dir())
		}
		if r.err == nil {
			r.err = lookup.Lock(ctx, r.store, r.id)
		}
		wait <- r
	}()
	answer := sync.OnceValue(func() opened {
		r := <-wait
		w.losses = lookup.Losses(r.store)
		w.Notices = append(w.Notices, w.losses...)
		return r
	})
	w.closers = append(w.closers, func() {
		if r := answer(); r.store != nil {
			r.store.Close()
		}
	})
	return storeOpening{fresh, func() (session.Store, session.ID, bool, error) {
		r := answer()
		return r.store, r.id, r.resumed, r.err
	}}
}

// open starts or resumes the session.
func (w *Conversation) open(ctx context.Context, c session.Config, resumed bool) error {
	if !resumed {
		w.Session = session.New(c)
		return nil
	}
	s, err := session.Resume(ctx, c)
	if broken := lookup.Chain(ctx, w.Stored, c.ID); broken != nil {
		return broken
	}
	if errors.Is(err, session.ErrLocked) || errors.Is(err, session.ErrNotFound) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	w.Session, w.resumed = s, len(s.History()) > 0
	return nil
}
