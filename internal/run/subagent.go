package run

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
	"adze/internal/run/gctuning"
	"adze/internal/undo/recorder"
	"adze/prompts"
	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// staff is what the subagents of a run are made of. Their tools and system prompt are made at the
// first task: most runs have none.
type staff struct {
	app      *app
	options  *options
	settings settings
	wired    *wired
	profile  models.Profile // of the run
	main     models.Model   // of the run
	model    models.Model   // of the subagents
	session  session.Config // of the run
	deps     toolset.Deps
	spill    func(tool.CallID) (io.WriteCloser, string, error) // keeps whole outputs
}

// employ prepares subagents: with the model of the run, or the one that the configuration names for
// them.
func employ(a *app, o *options, s settings, m models.Model, w *wired) (*staff, error) {
	f := &staff{app: a, options: o, settings: s, wired: w, profile: m.Profile, main: m, model: m}
	if o.serves {
		f.profile = models.Coder() // who calls is not the model
	}
	if name := s.config.TaskModel; name != "" && !o.written() {
		var err error
		if f.model, err = a.models(s.config).Named(name); err != nil {
			return nil, err
		}
		if err := o.affordable(a.models(s.config), f.model); err != nil {
			return nil, err
		}
	}
	w.agents = agents.New(s.config.Limits.Tasks, f.config)
	return f, nil
}

// written reports a run whose model only says what was written before: its subagents are in the
// same text.
func (o *options) written() bool { return o.demo || o.replay != "" || o.byHand != nil }

// equip makes the tools of the run itself, with the one that starts subagents, and the shelf that
// they are offered from.
func (f *staff) equip(ctx context.Context) (*toolselect.Shelf, error) {
	w, profile := f.wired, f.profile
	offer, err := f.app.newShelf(f.options, w, profile)
	if err != nil {
		return nil, err
	}
	f.deps = f.settings.deps(w)
	f.deps.AskProcesses = f.options.serves
	f.deps.Inquire, w.plan = w.person.inquire, w.desk()
	if f.options.byHand == nil {
		f.deps.Plans = w.plan
	}
	f.deps.Search = f.app.searchEngine(f.settings, w)
	f.deps.Code, f.deps.Formatters = f.settings.languageServers(f.options, w), f.settings.formatters(f.options, w)
	if w.shelf != nil {
		f.deps.Skills = w.shelf
	}
	f.deps.Finder, f.deps.Brief, f.deps.Tasks = offer, profile.Budget > 0, f.tasks()
	w.servers = f.settings.mcpServers(f.options, w)
	if w.servers != nil {
		f.app.easy.Do(gctuning.Ease) // what they offer would have even a single answer collect its garbage
	}
	w.servers.lendModel(f, f.main)
	set, err := f.mainTools(ctx, f.deps)
	if err != nil {
		return nil, err
	}
	w.tellDeclared(f.deps.Declared)
	f.joining(offer)
	w.set.Store(offer.Fill(set))
	return offer, nil
}

// mainTools are those of the run itself.
func (f *staff) mainTools(ctx context.Context, deps toolset.Deps) (*tool.Set, error) {
	set, err := toolsFor(ctx, f.options, deps, f.settings.root.Dir(), f.profile, f.wired.servers)
	if err == nil && f.wired.leader.Name != "" {
		set = set.Only(f.wired.leader.Has)
	}
	return set, err
}

// joining has tools of servers join while the run goes on.
func (f *staff) joining(shelf *toolselect.Shelf) {
	m := f.wired.servers
	if m == nil {
		return
	}
	f.wired.notices = append(f.wired.notices, m.problems...)
	m.joined.Store(m.Generation())
	m.rebuild = func(ctx context.Context) (*tool.Set, error) {
		deps := f.deps
		deps.Declared = &toolset.Declared{Dir: deps.Declared.Dir, Project: deps.Declared.Project} // New writes into it
		return f.mainTools(ctx, deps)
	}
	shelf.Joining = toolselect.Joining{Search: m.search, Set: func(ctx context.Context, o session.Occasion) *tool.Set {
		set := m.join(ctx, o)
		if set != nil {
			f.wired.set.Store(set)
		}
		return set
	}}
}

// tasks is the port of the task tool. A call by hand has no model that could work.
func (f *staff) tasks() toolset.Tasks {
	switch {
	case f.options.byHand != nil || f.options.alone:
		return nil
	case f.options.serves:
		return awaited{f.wired.agents}
	}
	return f.wired.agents
}

// config makes what all subagents have in common.
func (f *staff) config() (agents.Config, error) {
	plain := *f.options
	plain.system = "" // it is the main conversation's
	room := instructions.New(plain.instructions(), f.settings.ours())
	defer room.Close()
	system, err := room.Render("task", time.Now())
	if err != nil {
		return agents.Config{}, err
	}
	f.model, _ = f.model.Settled(context.Background(), "")
	c := f.session
	observe := c.Observe
	c.Provider, c.Model, c.Offer, c.Accept, c.Schema = f.model.Provider, f.model.Name, nil, nil, nil
	c.Start.Model, c.Start.System, c.Start.Lead = f.model.Full(), f.settings.masked(system), ""
	effort := f.wired.session.Effort
	if c.Start.Model != f.session.Start.Model {
		effort = nil // it was chosen for another model
	}
	return agents.Config{
		Kinds: f.wired.kinds, System: func(k agents.Kind, text string) string { return f.systemFor(c.Start.System, k, text) }, Model: f.modelFor,
		InForce: func() string { return string(f.wired.gate.Mode()) },
		Session: c, Effort: effort, Tools: f.tools, Observe: observe, Steps: f.settings.config.Limits.TaskSteps, Depth: f.settings.config.Limits.TaskDepth,
		Budget:   func() *session.Budget { return f.wired.session.Budget() },
		Note:     func(n session.Note) { f.wired.session.Note(n) },
		Changed:  f.wired.person.stir,
		Narrower: func(a, b string) string { return string(policy.Narrower(policy.Mode(a), policy.Mode(b))) },
	}, nil
}

// tools makes the tools of one subagent: it reads, plans and runs commands for itself, and has none
// that the run has not.
func (f *staff) tools(ctx context.Context, h agents.Hand) (*tool.Set, func(), error) {
	deps := f.deps
	deps.Seen, deps.Todos, deps.Shell = nil, nil, f.settings.shell(f.wired)
	deps.Plans = nil // a plan is the main conversation's
	deps.Tasks, deps.Finder, deps.Brief = h.Tasks, nil, f.model.Profile.Budget > 0
	deps.Declared = &toolset.Declared{Dir: f.deps.Declared.Dir, Project: f.deps.Declared.Project} // New writes into it, and several may work at once
	deps.Shell.Spill = f.spill
	deps.Withhold = func(root string) func(dir, name string) bool {
		return f.wired.gate.SieveIn(policy.Mode(h.Mode), root)
	}
	dir := f.settings.root.Dir()
	set, err := toolsFor(ctx, &options{}, deps, dir, f.model.Profile, f.wired.servers)
	if err != nil {
		deps.Shell.Close()
		return nil, nil, err
	}
	set = set.Named(func(name string) bool { return f.wired.set.Load().Has(name) })
	return set, deps.Shell.Close, nil
}

// cancelCall aborts one running call, of the run or of a subagent.
func (w *wired) cancelCall(id tool.CallID) bool {
	return w.session.CancelCall(id) || w.agents.CancelCall(id)
}

// open opens the session that the subagents work for. What worked in the background when it was
// open last has ended, and is told with the next prompt. Without a user a turn waits for what works
// there; nobody would read the report later.
func (f *staff) open(ctx context.Context, c session.Config, resumed bool) error {
	w := f.wired
	c = f.led(ctx, c)
	w.menu.Lend = f.lend
	if f.options.print {
		c.Await = w.agents.Await
	}
	w.tellCode(&c, f.options.print)
	var late []session.Note
	interrupted := false
	c.Restorer = toolset.Restorer{Deps: f.deps, Session: string(c.ID)}
	c.Found = func(log []session.Entry) (err error) {
		interrupted = recorder.Interrupted(log)
		late, err = agents.Unreported(ctx, c.Store, c.ID, log)
		late = append(late, recorder.Untold(log)...)
		return err
	}
	w.closers = append(w.closers, func() { w.ended = w.agents.Close() })
	if err := w.open(ctx, c, resumed, f); err != nil {
		return err
	}
	if interrupted {
		late = append(late, w.keeper.FinishFor(ctx, w.folder())...)
	}
	for _, n := range late {
		w.session.Note(n)
	}
	return nil
}

// modelFor is the same for a task.
func (f *staff) modelFor(k agents.Kind) (agents.Model, error) {
	m, err := f.app.modelOfKind(&f.settings.config, k, f.model.Provider.Name())
	if err == nil {
		err = f.options.affordable(f.app.models(f.settings.config), m)
	}
	if err != nil {
		return agents.Model{}, err
	}
	m, _ = m.Settled(context.Background(), "")
	return agents.Model{Provider: m.Provider, Name: m.Name, Full: m.Full()}, nil
}

// lend has the model that the file of a command names answer the turn that the command begins.
func (f *staff) lend(of discovery.Origin, name string) (full string, err error) {
	w, o := f.wired, f.options
	if o.written() || o.record != "" {
		return "", errors.New("a conversation that is written down has one model")
	}
	m, err := f.app.modelOfFile(&f.settings.config, of, name, w.head.Provider)
	if err == nil {
		err = o.affordable(f.app.models(f.settings.config), m)
	}
	if err != nil {
		return "", err
	}
	if m.Full() != w.head.Provider+"/"+w.head.Model {
		m, _ = m.Settled(context.Background(), "")
		w.session.Lend(m.Provider, m.Name)
	}
	return m.Full(), nil
}

// led makes the conversation that of the agent that leads it, and tells of the agents that it may
// give tasks to.
func (f *staff) led(ctx context.Context, c session.Config) session.Config {
	w, k := f.wired, f.wired.leader
	if _, tasks := w.set.Get("task"); tasks {
		c.Start.System = prompts.Insert(c.Start.System, prompts.AgentsPart, f.settings.masked(w.kinds.Index(f.room())))
	}
	if k.Name == "" {
		return c
	}
	text, err := k.Text(ctx)
	if err != nil {
		w.notices = append(w.notices, fmt.Sprintf("the agent %s cannot be read: %v", k.Name, err))
	}
	c.Start.Lead, w.head.Agent = k.Label(), k.Label()
	c.Start.System = f.systemFor(c.Start.System, k, text)
	c.Effort = cmp.Or(c.Effort, k.Effort)
	if k.Steps > 0 && (c.Limits.Steps == 0 || k.Steps < c.Limits.Steps) {
		c.Limits.Steps = k.Steps
	}
	says := append([]string{"it leads this conversation"}, k.Says(func(name string) bool { _, has := w.set.Get(name); return has })...)
	w.notices = append(w.notices, fmt.Sprintf("the agent %s (%s): %s", k.Name, cmp.Or(k.Path, string(k.Origin)), strings.Join(says, "; ")))
	return c
}

// room is how much of a prompt the index of agents may take, in bytes.
func (f *staff) room() int {
	if f.profile.Budget > 0 {
		return agents.SmallIndex
	}
	return agents.MaxIndex
}

// systemFor puts what an agent is told of itself into a system prompt.
func (f *staff) systemFor(system string, k agents.Kind, text string) string {
	if text == "" {
		return system
	}
	return prompts.Insert(system, prompts.LeadPart+k.Name, f.settings.masked(text))
}
