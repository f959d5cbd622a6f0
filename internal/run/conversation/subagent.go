package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"adze/internal/llm/models"
	"adze/internal/llm/toolselect"
	"adze/internal/policy"
	"adze/internal/project/agents"
	"adze/internal/project/discovery"
	"adze/internal/project/instructions"
	"adze/internal/run/flags"
	"adze/internal/run/process"
	"adze/internal/run/settings"
	"adze/internal/sessiondb/claims"
	"adze/internal/undo/recorder"
	"adze/prompts"
	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// subagentFactory creates a run's subagents. Their tools and system prompt are created with the
// first task, because most runs have none.
type subagentFactory struct {
	settings *settings.Settings
	wired    *Conversation
	profile  models.Profile // the run's
	main     models.Model   // the run's
	model    models.Model   // the subagents'
	session  session.Config // the run's
	deps     toolset.Deps
	spill    func(tool.CallID) (io.WriteCloser, string, error) // stores complete outputs
}

// newSubagents prepares subagents with the run's model or the configured one.
func newSubagents(m models.Model, w *Conversation) (*subagentFactory, error) {
	s := w.Settings
	f := &subagentFactory{settings: s, wired: w, profile: m.Profile, main: m, model: m}
	if s.Request.Serves {
		f.profile = models.Coder() // the caller is not the model
	}
	if name := s.Config.TaskModel; name != "" && !s.Request.Written() {
		var err error
		if f.model, err = s.Models(s.Config).Named(name); err != nil {
			return nil, err
		}
		if err := affordable(&s.Request.Run, s.Models(s.Config), f.model); err != nil {
			return nil, err
		}
	}
	w.agents = agents.New(0, f.config)
	return f, nil
}

// makeTools creates the run's tools, including the one for subagents, and the selection to offer
// them from.
func (f *subagentFactory) makeTools(ctx context.Context) (*toolselect.Shelf, error) {
	w, profile := f.wired, f.profile
	offer := newShelf(w, profile)
	f.deps = w.deps()
	f.deps.AskProcesses = f.settings.Request.Serves
	f.deps.Inquire, w.plan = w.inquire(), w.desk()
	if f.settings.Request.ByHand == nil {
		f.deps.Plans = w.plan
	}
	var notices []string
	f.deps.Search, notices = searchEngine(w.Settings)
	w.Notices = append(w.Notices, notices...)
	f.deps.Formatters = formatters(w.Settings, w.Guard)
	if w.shelf != nil {
		f.deps.Skills = w.shelf
	}
	f.deps.Finder, f.deps.Brief, f.deps.Tasks = offer, profile.Budget > 0, f.tasks()
	w.useServers()
	set, err := f.mainTools(ctx, f.deps)
	if err != nil {
		return nil, err
	}
	f.deps.Shell.EndsAtLimit = f.settings.Request.ByHand != nil || !readsOn(set)
	for _, mistake := range f.deps.Declared.Mistakes {
		w.Notices = append(w.Notices, mistake.Error())
	}
	f.joining(offer)
	w.Set.Store(offer.Fill(set))
	return offer, nil
}

// readsOn reports whether a model with these tools can read more output from a job.
func readsOn(set *tool.Set) bool { return set.Has("bash_output") }

// mainTools returns the run's own tools.
func (f *subagentFactory) mainTools(ctx context.Context, deps toolset.Deps) (*tool.Set, error) {
	set, err := toolsFor(ctx, &f.settings.Request.Run, deps, f.settings.Root.Dir(), f.profile, f.wired.Servers)
	if err == nil && f.wired.leader.Name != "" {
		set = set.Only(f.wired.leader.Has)
	}
	return set, err
}

// joining lets server tools join during the run.
func (f *subagentFactory) joining(shelf *toolselect.Shelf) {
	m := f.wired.Servers
	if m == nil {
		return
	}
	f.wired.Notices = append(f.wired.Notices, m.Begin()...)
	again := func(ctx context.Context) (*tool.Set, error) {
		deps := f.deps
		deps.Declared = &toolset.Declared{Dir: deps.Declared.Dir, Project: deps.Declared.Project} // New writes to it
		return f.mainTools(ctx, deps)
	}
	shelf.Joining = toolselect.Joining{
		Search: func(ctx context.Context) *tool.Set { return m.Search(ctx, again) },
		Set: func(ctx context.Context, o session.Occasion) *tool.Set {
			set := m.Join(ctx, o, again)
			if set != nil {
				f.wired.Set.Store(set)
			}
			return set
		},
	}
}

// tasks returns the task tool's backend. A scripted call has no model for tasks.
func (f *subagentFactory) tasks() toolset.Tasks {
	switch {
	case f.settings.Request.ByHand != nil || f.main.Provider == nobody(MCPProvider):
		return nil
	case f.settings.Request.Serves:
		return taskWaiter{f.wired.agents}
	}
	return f.wired.agents
}

// config returns the subagents' common configuration.
func (f *subagentFactory) config() (agents.Config, error) {
	plain := f.settings.Request
	plain.System = "" // only for the main conversation
	room := instructions.New(plain.Instructions(), f.settings.Ours())
	defer room.Close()
	system, err := room.Render("task", time.Now())
	if err != nil {
		return agents.Config{}, err
	}
	f.model, _ = f.model.Settled(context.Background(), "")
	c := f.session
	observe := c.Observe
	c.Provider, c.Model, c.Offer, c.Accept, c.Schema = f.model.Provider, f.model.Name, nil, nil, nil
	c.Start.Model, c.Start.System, c.Start.Lead = f.model.Full(), f.settings.Masked(system), ""
	effort := f.wired.Session.Effort
	if c.Start.Model != f.session.Start.Model {
		effort = nil // it was chosen for another model
	}
	return agents.Config{
		Kinds: f.wired.kinds, System: func(k agents.Kind, text string) string { return f.systemFor(c.Start.System, k, text) }, Model: f.modelFor,
		InForce: func() string { return string(f.wired.Gate.Mode()) },
		Session: c, Effort: effort, Tools: f.tools, Observe: observe,
		Budget:   func() *session.Budget { return f.wired.Session.Budget() },
		Note:     func(n session.Note) { f.wired.Session.Note(n) },
		Changed:  f.wired.person.Stir,
		Narrower: func(a, b string) string { return string(policy.Narrower(policy.Mode(a), policy.Mode(b))) },
	}, nil
}

// tools creates a subagent's tools, with its own shell, todos and file versions. It has only tools
// that the run has.
func (f *subagentFactory) tools(ctx context.Context, mode string) (*tool.Set, func(), error) {
	deps := f.deps
	deps.Seen, deps.Todos, deps.Shell = nil, nil, f.wired.NewShell()
	deps.Plans = nil // plans belong to the main conversation
	deps.Tasks, deps.Finder, deps.Brief = nil, nil, f.model.Profile.Budget > 0
	deps.Declared = &toolset.Declared{Dir: f.deps.Declared.Dir, Project: f.deps.Declared.Project} // New writes to it, perhaps concurrently
	deps.Shell.Spill = f.spill
	deps.Withhold = func(root string) func(dir, name string) bool {
		return f.wired.Gate.FileFilterIn(policy.Mode(mode), root)
	}
	dir, all := f.settings.Root.Dir(), flags.New()
	set, err := toolsFor(ctx, &all, deps, dir, f.model.Profile, f.wired.Servers)
	if err != nil {
		deps.Shell.Close()
		return nil, nil, err
	}
	set = set.Named(func(name string) bool { return f.wired.Set.Load().Has(name) })
	deps.Shell.EndsAtLimit = !readsOn(set)
	return set, deps.Shell.Close, nil
}

// cancelCall cancels a running call of the run or of a subagent.
func (w *Conversation) cancelCall(id tool.CallID) bool {
	return w.Session.CancelCall(id) || w.agents.CancelCall(id)
}

// sessionParts holds a session's parts besides the run's.
type sessionParts struct {
	id      session.ID
	store   session.Store
	system  string
	offer   *toolselect.Shelf
	clip    tool.Clip
	hooks   func(context.Context, session.Moment) tool.Ruling
	found   func([]session.Entry) error // receives a resumed session's log
	observe func(session.Event)
}

// sessionConfig is the only place that creates a session's configuration, for a run and for an
// inspection of its request.
func (f *subagentFactory) sessionConfig(ctx context.Context, x sessionParts) session.Config {
	w, s, m, tools := f.wired, f.settings, f.main, f.wired.Set.Load()
	find := s.Models(s.Config)
	return f.led(ctx, session.Config{
		Identity: session.Identity{
			ID: x.id, Effort: s.Request.Effort,
			Start: session.Start{Version: process.Version, Cwd: s.Root.Dir(), Model: m.Full(), Server: m.Server, System: x.system, Tools: tools.Digest()},
		},
		Requests: session.Requests{
			Provider: m.Provider, Model: m.Name, Offer: x.offer.Offerer(), Notes: w.tells, Pieces: w.Room.Pieces, Sum: prompts.Compact(),
			Price: find.Prices(), Window: find.Windows(m), Blind: find.Blind(m),
		},
		Calls: session.Calls{
			Tools: tools, Gate: s.Files.Gate(w.Gate), Clip: x.clip, Mask: s.Marked(), Snapshots: w.snapshots(),
		},
		Storage: session.Storage{Store: x.store, Found: x.found, Kept: w.shelf.Kept},
		Turns: session.Turns{
			Limits: s.Request.Limits(s.Config), Accept: s.Request.Answer.Judge(), Schema: s.Request.Answer.Grammar(), Await: w.await(), Hooks: x.hooks,
			Claims: claims.Of(s.Config.Claims, "task"),
		},
		Host: session.Host{Observe: x.observe, Wait: s.Wait},
	})
}

// open opens the session for the subagents. Background tasks from its last opening have ended,
// which the next prompt reports.
func (f *subagentFactory) open(ctx context.Context, x sessionParts, resumed bool) error {
	w := f.wired
	w.Menu.Lend = f.lend
	engine, err := newHooks(f.settings, w.Guard)
	if err != nil {
		return err
	}
	if engine != nil {
		x.hooks = engine.Fire
	}
	var late []session.Note
	interrupted := false
	x.found = func(log []session.Entry) (err error) {
		interrupted = recorder.Interrupted(log)
		late, err = agents.Unreported(ctx, x.store, x.id, log)
		late = append(late, recorder.Untold(log)...)
		return err
	}
	w.closers = append(w.closers, func() { w.ended = w.agents.Close() })
	if engine != nil {
		w.closers = append(w.closers, engine.Close)
	}
	f.session = f.sessionConfig(ctx, x)
	f.session.Restorer = toolset.Restorer{Deps: f.deps, Session: string(x.id)}
	if err := w.open(ctx, f.session, resumed); err != nil {
		return err
	}
	if interrupted {
		late = append(late, w.Keeper.FinishFor(ctx, w.folder())...)
	}
	for _, n := range late {
		w.Session.Note(n)
	}
	return nil
}

// modelFor returns the model for a task.
func (f *subagentFactory) modelFor(k agents.Kind) (agents.Model, error) {
	m, err := modelOfFile(f.settings, k.Origin, k.Model, f.model.Provider.Name())
	if err == nil {
		err = affordable(&f.settings.Request.Run, f.settings.Models(f.settings.Config), m)
	}
	if err != nil {
		return agents.Model{}, err
	}
	m, _ = m.Settled(context.Background(), "")
	return agents.Model{Provider: m.Provider, Name: m.Name, Full: m.Full()}, nil
}

// lend makes the model named in a command's file answer the turn that the command begins.
func (f *subagentFactory) lend(of discovery.Origin, name string) (full string, err error) {
	w, o := f.wired, &f.settings.Request
	if o.Written() || o.Record != "" {
		return "", errors.New("a conversation that is written down has one model")
	}
	m, err := modelOfFile(f.settings, of, name, w.Head.Provider)
	if err == nil {
		err = affordable(&o.Run, f.settings.Models(f.settings.Config), m)
	}
	if err != nil {
		return "", err
	}
	if m.Full() != w.Head.Provider+"/"+w.Head.Model {
		m, _ = m.Settled(context.Background(), "")
		w.Session.Lend(m.Provider, m.Name)
	}
	return m.Full(), nil
}

// led applies the leading agent to the configuration and adds the agents available for tasks.
func (f *subagentFactory) led(ctx context.Context, c session.Config) session.Config {
	w, k := f.wired, f.wired.leader
	if _, tasks := w.Set.Load().Get("task"); tasks {
		c.Start.System = prompts.Insert(c.Start.System, prompts.AgentsPart, f.settings.Masked(w.kinds.Index(f.room())))
	}
	if k.Name == "" {
		return c
	}
	text, err := k.Text(ctx)
	if err != nil {
		w.Notices = append(w.Notices, fmt.Sprintf("the agent %s cannot be read: %v", k.Name, err))
	}
	c.Start.Lead, w.Head.Agent = k.Label(), k.Label()
	c.Start.System = f.systemFor(c.Start.System, k, text)
	c.Effort = cmp.Or(c.Effort, k.Effort)
	if k.Steps > 0 && (c.Limits.Steps == 0 || k.Steps < c.Limits.Steps) {
		c.Limits.Steps = k.Steps
	}
	says := append([]string{"it leads this conversation"}, k.Says(func(name string) bool { _, has := w.Set.Load().Get(name); return has })...)
	w.Notices = append(w.Notices, fmt.Sprintf("the agent %s (%s): %s", k.Name, cmp.Or(k.Path, string(k.Origin)), strings.Join(says, "; ")))
	return c
}

// room returns the size limit for the agent index in a prompt, in bytes.
func (f *subagentFactory) room() int {
	if f.profile.Budget > 0 {
		return agents.SmallIndex
	}
	return agents.MaxIndex
}

// systemFor inserts an agent's instructions into a system prompt.
func (f *subagentFactory) systemFor(system string, k agents.Kind, text string) string {
	if text == "" {
		return system
	}
	return prompts.Insert(system, prompts.LeadPart+k.Name, f.settings.Masked(text))
}
