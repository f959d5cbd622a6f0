package app

import (
	"context"
	"io"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/desk"
	"adze/internal/instructions"
	"adze/internal/models"
	"adze/internal/offer"
	"adze/internal/policy"
	"adze/session"
	"adze/tool"
	"adze/toolset"
	"adze/tui/port"
)

// staff is what the subagents of a run are made of. Their tools and system prompt are made at the first task:
// most runs have none.
type staff struct {
	app      *app
	options  *options
	settings settings
	wired    *wired
	profile  models.Profile // of the run
	model    models.Model   // of the subagents
	session  session.Config // of the run
	deps     toolset.Deps
	spill    func(tool.CallID) (io.WriteCloser, string, error) // keeps whole outputs
}

// employ prepares subagents: with the model of the run, or the one that the configuration names for them.
func employ(a *app, o *options, s settings, m models.Model, w *wired) (*staff, error) {
	f := &staff{app: a, options: o, settings: s, wired: w, profile: m.Profile, model: m}
	if name := s.config.TaskModel; name != "" && !o.written() {
		var err error
		if f.model, err = a.models(s.config).Named(name); err != nil {
			return nil, err
		}
		if err := o.affordable(a.models(s.config), f.model); err != nil {
			return nil, err
		}
	}
	w.agents = agent.New(s.config.Limits.Tasks, f.config)
	return f, nil
}

// written reports a run whose model only says what was written before: its subagents are in the same text.
func (o *options) written() bool { return o.demo || o.replay != "" || o.byHand != nil }

// equip makes the tools of the run itself, with the one that starts subagents, and the shelf that they
// are offered from.
func (f *staff) equip(ctx context.Context) (*offer.Shelf, error) {
	w, dir, profile := f.wired, f.settings.root.Dir(), f.profile
	offer, err := f.app.newShelf(f.options, f.settings, profile)
	if err != nil {
		return nil, err
	}
	f.deps = f.settings.deps(w)
	f.deps.Inquire, w.plan = w.person.inquire, w.desk()
	if f.options.byHand == nil {
		f.deps.Plans = w.plan
	}
	f.deps.Search = f.app.searchEngine(f.settings, w)
	f.deps.Finder, f.deps.Brief, f.deps.Tasks = offer, profile.Budget > 0, f.tasks()
	set, err := toolsFor(ctx, f.options, f.deps, dir, profile)
	if err != nil {
		return nil, err
	}
	w.tellDeclared(f.deps.Declared)
	w.set = offer.Fill(set)
	return offer, nil
}

// tasks is the port of the task tool. A call by hand has no model that could work.
func (f *staff) tasks() toolset.Tasks {
	if f.options.byHand != nil {
		return nil
	}
	return f.wired.agents
}

// config makes what all subagents have in common.
func (f *staff) config() (agent.Config, error) {
	plain := *f.options
	plain.system = "" // it is the main conversation's
	room := instructions.New(plain.instructions(), f.settings.ours())
	defer room.Close()
	system, err := room.Render("task", time.Now())
	if err != nil {
		return agent.Config{}, err
	}
	c := f.session
	observe := c.Observe
	c.Provider, c.Model, c.Offer, c.Accept, c.Schema = f.model.Provider, f.model.Name, nil, nil, nil
	c.Start.Model, c.Start.System = f.model.Full(), f.settings.masked(system)
	effort := f.wired.session.Effort
	if c.Start.Model != f.session.Start.Model {
		effort = nil // it was chosen for another model
	}
	return agent.Config{
		Session: c, Effort: effort, Tools: f.tools, Observe: observe, Steps: f.settings.config.Limits.TaskSteps, Depth: f.settings.config.Limits.TaskDepth,
		Budget:   func() *session.Budget { return f.wired.session.Budget() },
		Note:     func(n session.Note) { f.wired.session.Note(n) },
		Changed:  f.wired.person.stir,
		Narrower: func(a, b string) string { return string(policy.Narrower(policy.Mode(a), policy.Mode(b))) },
	}, nil
}

// tools makes the tools of one subagent: it reads, plans and runs commands for itself, and has none that the
// run has not.
func (f *staff) tools(ctx context.Context, h agent.Hand) (*tool.Set, func(), error) {
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
	set, err := toolsFor(ctx, &options{}, deps, dir, f.model.Profile)
	if err != nil {
		deps.Shell.Close()
		return nil, nil, err
	}
	set = set.Only(func(d tool.Definition) bool {
		_, has := f.wired.set.Get(d.Name)
		return has
	})
	return set, deps.Shell.Close, nil
}

// cancelCall aborts one running call, of the run or of a subagent.
func (w *wired) cancelCall(id tool.CallID) bool {
	return w.session.CancelCall(id) || w.agents.CancelCall(id)
}

// open opens the session that the subagents work for. What worked in the background when it was open last has ended, and
// is told with the next prompt. Without a person a turn waits for what works there; nobody would read the report later.
func (f *staff) open(ctx context.Context, c session.Config, resumed bool) error {
	w := f.wired
	if f.options.print {
		c.Await = w.agents.Await
	}
	var late []session.Note
	c.Found = func(log []session.Entry) (err error) {
		late, err = agent.Unreported(ctx, c.Store, c.ID, log)
		return err
	}
	w.closers = append(w.closers, func() { w.ended = w.agents.Close() })
	if err := w.open(ctx, c, resumed, f); err != nil {
		return err
	}
	for _, n := range late {
		w.session.Note(n)
	}
	return nil
}

// backgroundJobs are the commands and the tasks that go on in the background.
func (w *wired) backgroundJobs() []port.Job {
	out := desk.Jobs(w.jobs)
	for _, l := range w.agents.Later() {
		out = append(out, port.Job{ID: l.ID, Command: l.Name, Running: l.Running, Started: l.Started, Ended: l.Ended})
	}
	return out
}

// jobOutput is the end of what one of them wrote or said.
func (w *wired) jobOutput(_ context.Context, id string) (string, error) {
	for _, l := range w.agents.Later() {
		if l.ID == id {
			return l.Says, nil
		}
	}
	return desk.JobOutput(w.jobs, id)
}

func (w *wired) endJob(id string) error {
	if w.agents.End(id) {
		return nil
	}
	return desk.EndJob(w.jobs, id)
}

// tellEnded says which tasks in the background ended with a session; empty: none did.
func (w *wired) tellEnded() string {
	if len(w.ended) == 0 {
		return ""
	}
	return "ended with the session, as it is told when it goes on: " + strings.Join(w.ended, ", ")
}
