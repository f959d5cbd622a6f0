package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/internal/policy"
	"adze/internal/project/agents"
	"adze/internal/project/discovery"
	"adze/internal/project/instructions"
	"adze/internal/run/flags"
	"adze/internal/run/process"
	"adze/internal/sessiondb/claims"
	"adze/prompts"
	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// config returns the subagents' common configuration.
func (t *tools) config() (agents.Config, error) {
	plain := t.Settings.Request
	plain.System = "" // only for the main conversation
	room := instructions.New(plain.Instructions(), t.Settings.InstructionPlaces())
	defer room.Close()
	system, err := room.Render("task", time.Now())
	if err != nil {
		return agents.Config{}, err
	}
	t.taskModel, _ = t.taskModel.WithServerProfile(context.Background(), "")
	c := t.main
	observe := c.Observe
	c.Provider, c.Model, c.Offer, c.Accept, c.Schema = t.taskModel.Provider, t.taskModel.Name, nil, nil, nil
	c.Start.Model, c.Start.System, c.Start.Lead = t.taskModel.Full(), t.Settings.Masked(system), ""
	effort := t.later.Load().Effort
	if c.Start.Model != t.main.Start.Model {
		effort = nil // it was chosen for another model
	}
	return agents.Config{
		Kinds: t.kinds, System: func(k agents.Kind, text string) string { return t.systemFor(c.Start.System, k, text) }, Model: t.modelFor,
		InForce: func() string { return string(t.Gate.Mode()) },
		Session: c, Effort: effort, Tools: t.subagentTools, Observe: observe,
		Budget:   func() *session.Budget { return t.later.Load().Budget() },
		Note:     func(n session.Note) { t.later.Load().Note(n) },
		Changed:  t.person.OnChange,
		Narrower: func(a, b string) string { return string(policy.Narrower(policy.Mode(a), policy.Mode(b))) },
	}, nil
}

// subagentTools creates a subagent's tools, with its own shell, todos and file versions. It has
// only tools that the run has.
func (t *tools) subagentTools(ctx context.Context, mode string) (*tool.Set, func(), error) {
	deps := t.deps
	deps.KnownFiles, deps.Todos, deps.Shell = nil, nil, t.NewShell()
	deps.Plans = nil // plans belong to the main conversation
	deps.Tasks, deps.Finder, deps.Brief = nil, nil, t.taskModel.Profile.Budget > 0
	deps.Declared = &toolset.Declared{Dir: t.deps.Declared.Dir, Project: t.deps.Declared.Project} // New writes to it, perhaps concurrently
	deps.Shell.Spill = t.deps.Shell.Spill
	deps.Withhold = func(root string) func(dir, name string) bool {
		return t.Gate.FileFilterIn(policy.Mode(mode), root)
	}
	dir, all := t.Settings.Root.Dir(), flags.New()
	set, err := toolsFor(ctx, &all, deps, dir, t.taskModel.Profile, t.Servers)
	if err != nil {
		deps.Shell.Close()
		return nil, nil, err
	}
	set = set.Named(func(name string) bool { return t.Set.Load().Has(name) })
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
	clip    tool.Clip
	hooks   func(context.Context, session.Moment) tool.Ruling
	found   func([]session.Entry) error // receives a resumed session's log
	observe func(session.Event)
}

// sessionConfig is the only place that creates a session's configuration, for a run and for an
// inspection of its request.
func (t *tools) sessionConfig(ctx context.Context, x sessionParts) session.Config {
	s, m, set := t.Settings, t.model, t.Set.Load()
	find := s.Models(s.Config)
	return t.led(ctx, session.Config{
		Identity: session.Identity{
			ID: x.id, Effort: s.Request.Effort,
			Start: session.Start{Version: process.Version, Cwd: s.Root.Dir(), Model: m.Full(), Server: m.Server, System: t.system, Tools: set.Digest()},
		},
		Requests: session.Requests{
			Provider: m.Provider, Model: m.Name, Offer: t.offer.Offerer(), Notes: t.tells, Pieces: t.Room.Pieces, Sum: prompts.Compact(),
			Price: find.Prices(), Window: find.Windows(m), RejectsImages: find.RejectsImages(m),
		},
		Calls: session.Calls{
			Tools: set, Gate: s.Files.Gate(t.Gate), Clip: x.clip, Mask: s.Marked(), Snapshots: t.snapshots(),
		},
		Storage: session.Storage{Store: x.store, OnResume: x.found, CarryOver: t.shelf.CompactionNote},
		Turns: session.Turns{
			Limits: s.Request.Limits(s.Config), Accept: s.Request.Answer.Judge(), Schema: s.Request.Answer.Grammar(), Await: t.await(), Hooks: x.hooks,
			Claims: claims.NewCheck(s.Config.Claims, "task"),
		},
		Host: session.Host{Observe: x.observe, Wait: s.Wait},
	})
}

// modelFor returns the model for a task.
func (t *tools) modelFor(k agents.Kind) (agents.Model, error) {
	m, err := modelOfFile(t.Settings, k.Origin, k.Model, t.taskModel.Provider.Name())
	if err == nil {
		err = affordable(&t.Settings.Request.Run, t.Settings.Models(t.Settings.Config), m)
	}
	if err != nil {
		return agents.Model{}, err
	}
	m, _ = m.WithServerProfile(context.Background(), "")
	return agents.Model{Provider: m.Provider, Name: m.Name, Full: m.Full()}, nil
}

// lend makes the model named in a command's file answer the turn that the command begins.
func (t *tools) lend(of discovery.Origin, name string) (full string, err error) {
	o := &t.Settings.Request
	if o.Written() || o.Record != "" {
		return "", errors.New("a conversation that is written down has one model")
	}
	m, err := modelOfFile(t.Settings, of, name, t.model.Provider.Name())
	if err == nil {
		err = affordable(&o.Run, t.Settings.Models(t.Settings.Config), m)
	}
	if err != nil {
		return "", err
	}
	if m.Full() != t.model.Full() {
		m, _ = m.WithServerProfile(context.Background(), "")
		t.later.Load().UseModelForTurn(m.Provider, m.Name)
	}
	return m.Full(), nil
}

// led applies the leading agent to the configuration and adds the agents available for tasks.
func (t *tools) led(ctx context.Context, c session.Config) session.Config {
	k := t.leader
	if _, tasks := t.Set.Load().Get("task"); tasks {
		c.Start.System = prompts.Insert(c.Start.System, prompts.AgentsPart, t.Settings.Masked(t.kinds.Index(t.room())))
	}
	if k.Name == "" {
		return c
	}
	text, err := k.Text(ctx)
	if err != nil {
		t.notices = append(t.notices, fmt.Sprintf("the agent %s cannot be read: %v", k.Name, err))
	}
	c.Start.Lead = k.Label()
	c.Start.System = t.systemFor(c.Start.System, k, text)
	c.Effort = cmp.Or(c.Effort, k.Effort)
	if k.Steps > 0 && (c.Limits.Steps == 0 || k.Steps < c.Limits.Steps) {
		c.Limits.Steps = k.Steps
	}
	says := append([]string{"it leads this conversation"}, k.IgnoredSettings(func(name string) bool { _, has := t.Set.Load().Get(name); return has })...)
	t.notices = append(t.notices, fmt.Sprintf("the agent %s (%s): %s", k.Name, cmp.Or(k.Path, string(k.Origin)), strings.Join(says, "; ")))
	return c
}

// room returns the size limit for the agent index in a prompt, in bytes.
func (t *tools) room() int {
	if t.profile.Budget > 0 {
		return agents.SmallIndex
	}
	return agents.MaxIndex
}

// systemFor inserts an agent's instructions into a system prompt.
func (t *tools) systemFor(system string, k agents.Kind, text string) string {
	if text == "" {
		return system
	}
	return prompts.Insert(system, prompts.LeadPart+k.Name, t.Settings.Masked(text))
}
