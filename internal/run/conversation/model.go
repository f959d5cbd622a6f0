package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"adze/internal/config"
	"adze/internal/llm/models"
	"adze/internal/llm/script"
	"adze/internal/llm/toolselect"
	"adze/internal/policy"
	"adze/internal/project/agents"
	"adze/internal/project/discovery"
	"adze/internal/run/demo"
	"adze/internal/run/flags"
	"adze/internal/run/settings"
	"adze/internal/sessiondb/audit"
	"adze/internal/sessiondb/lookup"
	"adze/internal/text/usage"
	"adze/session"
	"adze/toolset"
)

// choice is the leading agent, the model and the settings, with the mode that the agent or the
// resumed session requests.
type choice struct {
	settings *settings.Settings
	model    models.Model
	leader   agents.Kind      // adze's own if its name is empty
	resumed  lookup.LastModel // the resumed session's
	notices  []string         // for the user
}

// choose chooses the agent, and the model's name.
func choose(ctx context.Context, s *settings.Settings, kinds agents.Kinds, logs storeOpening) (*choice, error) {
	c := &choice{settings: s}
	return c, c.recall(ctx, kinds, logs)
}

// useModel sets the run's model and checks that the run can enforce its limits with it.
func (c *choice) useModel(ctx context.Context, x *scope) error {
	s, o, cfg := c.settings, &c.settings.Request, c.settings.Config
	find := s.Models(cfg)
	m, err := modelFrom(ctx, o, find, s.Ring.Secrets(cfg))
	if err == nil {
		err = affordable(&o.Run, find, m)
	}
	if err != nil {
		return err
	}
	m, notice := m.WithServerProfile(ctx, c.server(m))
	if notice != "" {
		c.notices = append(c.notices, notice)
	}
	c.model = suited(m, cfg)
	if o.Record == "" {
		return nil
	}
	recorded, file, err := c.model.Record(o.Record, s.Ring.Secrets(cfg))
	if err == nil {
		c.model, x.closers = recorded, append(x.closers, func() { file.Close() })
	}
	return err
}

// server returns the program that answered for the model when the session was last open, or "".
func (c *choice) server(m models.Model) string {
	if m.Full() == c.resumed.Model {
		return c.resumed.Server
	}
	return ""
}

// suited adds the tools that this run always offers to a model's profile.
func suited(m models.Model, cfg config.Config) models.Model {
	if cfg.TaskModel != "" && !m.Profile.Tasks {
		m.Profile.Tasks, m.Profile.Core = true, append(slices.Clone(m.Profile.Core), "task")
	}
	if cfg.PermissionMode == string(policy.Plan) {
		m.Profile.Core = append(slices.Clone(m.Profile.Core), "plan")
	}
	return m
}

// unasked returns the model for a run that sends no request; for an unusable one only its name is
// known.
func (c *choice) unasked() models.Model {
	s := c.settings
	m, ok, err := s.Models(s.Config).Configured()
	if err != nil {
		c.notices = append(c.notices, err.Error())
	}
	if err != nil || !ok {
		provider, name, _ := strings.Cut(s.Config.Model, "/")
		m = models.Model{Provider: silentProvider(provider), Name: name, Profile: models.Coder()}
	}
	kept := c.server(m)
	if m.Full() == c.resumed.Model {
		m = m.Presumed(kept)
	}
	if address := m.Unasked(kept); address != "" {
		c.notices = append(c.notices, "which program answers at "+address+" is not known before a run asks it: with a program for local models "+
			"the prompt is shorter and the tools are fewer, some under other names")
	}
	return suited(m, s.Config)
}

// silentProvider is a provider that never answers.
type silentProvider string

func (n silentProvider) Name() string { return string(n) }

func (silentProvider) Stream(context.Context, session.Request) iter.Seq[session.Chunk] {
	return func(func(session.Chunk) bool) {}
}

// recall restores a resumed session's agent, and its model unless the user has named another.
func (c *choice) recall(ctx context.Context, kinds agents.Kinds, logs storeOpening) error {
	o := &c.settings.Request
	resumed := o.Resume != "" || o.ResumeLast
	if resumed && o.ByHand == nil && !o.Demo {
		r := logs.wait()
		if r.err != nil {
			return r.err // the session's error is clearer than a missing model
		}
		c.resumed = lookup.Last(ctx, r.store, r.id)
	}
	full := c.resumed.Model
	if err := c.lead(kinds, resumed); err != nil {
		return err
	}
	if o.Model != "" || o.Replay != "" || full == "" || full == c.settings.Config.Model || strings.HasPrefix(full, audit.Hand+"/") {
		return nil
	}
	if _, err := c.settings.Models(c.settings.Config).Named(full); err != nil {
		c.notices = append(c.notices, fmt.Sprintf("this session worked with %s, which cannot be used: %v", full, err))
		return nil
	}
	c.settings = c.settings.WithChange(func(_ *flags.Request, c *config.Config) {
		c.Model = full
		c.Set("model", "the session")
	})
	return nil
}

// modelFrom returns the model set by flags, or the detected one.
func modelFrom(ctx context.Context, o *flags.Request, find *models.Finder, secrets []string) (models.Model, error) {
	switch {
	case o.ByHand != nil:
		return models.Model{Provider: o.ByHand, Name: "tools-run", Profile: models.Coder()}, nil
	case o.Serves:
		return hired(o, find)
	case o.Demo:
		return demoModel(o), nil
	case o.Replay != "":
		return models.Recording(o.Replay, secrets)
	}
	return find.Choose(ctx)
}

// affordable rejects a cost limit that cannot be enforced.
func affordable(o *flags.Run, find *models.Finder, m models.Model) error {
	if o.MaxCost == 0 || find.Priced(m) {
		return nil
	}
	return usage.Mistake(`write down what a million tokens cost: {"models": {"`+m.Full()+`": {"price": {"input": 3, "output": 15}}}} in `+find.File,
		"--max-cost cannot be held: the price of %s is not known", m.Full())
}

// newShelf creates a run's tool selection. Tools named by the user are all offered.
func (w *tools) newShelf(p models.Profile) *toolselect.Selector {
	s, o := w.Settings, &w.Settings.Request
	all, budget := s.Config.Tools.OfferAbove, p.Budget
	if o.NamesTools() {
		all, budget = max(len(o.Tools), 1), 0
	}
	shelf := toolselect.New(p.Core, budget, all)
	if !o.NamesTools() && o.ByHand == nil {
		shelf.Late = toolselect.DefaultOccasions(toolselect.Facts{
			Repository: func() bool { return w.Room.Repository() },
			Planning:   func() bool { return w.Gate.Mode() == policy.Plan },
			Agents:     func() bool { return w.kinds.Written() },
		})
	}
	return shelf
}

// lead finds the leading agent: the user's choice, or the resumed session's. It can only narrow the
// user's permissions.
func (c *choice) lead(kinds agents.Kinds, resumed bool) error {
	stored := c.resumed.Lead
	o := &c.settings.Request
	name := cmp.Or(o.Agent, stored)
	if name == "" {
		return nil
	}
	if o.Agent != "" && resumed && o.Agent != stored {
		return usage.Mistake("leave --agent out, or start a new session with it", "this session is led by %s and stays so", cmp.Or(stored, "adze's own agent"))
	}
	k, err := kinds.Named(name)
	if err == nil && !k.Main {
		err = fmt.Errorf("the agent %q only takes tasks; no conversation is led by it", name)
	}
	if err != nil && o.Agent == "" {
		c.notices = append(c.notices, fmt.Sprintf("the agent %s that leads this session is not there any more; it goes on with what was told then, and without its limits", name))
		return nil
	}
	if err != nil {
		return usage.Mistake("agents are files in .adze/agents, .claude/agents and the like, of the project or in your home", "--agent: %v", err)
	}
	c.leader = k
	cfg := c.settings.Config
	if wish := cmp.Or(o.Mode, cfg.PermissionMode, string(policy.AskFirst)); k.Mode != "" {
		c.settings = c.settings.WithChange(func(o *flags.Request, _ *config.Config) {
			o.Mode = string(policy.Narrower(policy.Mode(wish), policy.Mode(k.Mode)))
		})
	}
	if k.Model == "" || o.Model != "" || resumed || o.Written() {
		return nil
	}
	m, err := modelOfFile(c.settings, k.Origin, k.Model, providerOf(c.settings.Models(cfg), cfg.Model))
	if err != nil {
		c.notices = append(c.notices, fmt.Sprintf("the agent %s names the model %q, which is not used: %v", k.Name, k.Model, err))
		return nil
	}
	c.settings = c.settings.WithChange(func(_ *flags.Request, c *config.Config) {
		c.Model = m.Full()
		c.Set("model", "the agent "+k.Name)
	})
	return nil
}

// modelOfFile returns the model named in the file of an agent or command. A project's file may only
// choose among the current provider's models: the user decides which company reads the code.
func modelOfFile(s *settings.Settings, of discovery.Origin, name, provider string) (models.Model, error) {
	m, err := s.Models(s.Config).ResolveAgentModel(provider, name)
	if err == nil && of == discovery.Project && m.Provider.Name() != provider {
		err = errors.New("the file of a project chooses no provider; name the model with --model, or keep the file among your own")
	}
	return m, err
}

// providerOf returns the provider of a run's model, or "" if there is none yet.
func providerOf(find *models.Finder, full string) string {
	if m, err := find.Named(full); err == nil {
		return m.Provider.Name()
	}
	if m, ok, err := find.Configured(); ok && err == nil {
		return m.Provider.Name()
	}
	return ""
}

// MCPProvider is the provider in the log if a client replaces the model.
const MCPProvider = "mcp"

// hired returns the model for a run that serves another program: it is only used for tasks and may
// be missing.
func hired(o *flags.Request, find *models.Finder) (models.Model, error) {
	m, ok, err := find.Configured()
	if err != nil && o.Model != "" {
		return m, err
	}
	if err != nil || !ok {
		m = models.Model{Provider: silentProvider(MCPProvider), Name: noModel, Profile: models.Coder()}
	}
	return m, nil
}

// noModel is the model name in a run without a model.
const noModel = "none"

// taskWaiter runs tasks in the foreground, for a client that receives no notes.
type taskWaiter struct{ toolset.Tasks }

func (t taskWaiter) Run(ctx context.Context, r toolset.TaskRequest, progress func(toolset.TaskProgress)) (toolset.TaskResult, error) {
	r.Background = false
	return t.Tasks.Run(ctx, r, progress)
}

// demoPace is the delay that makes the scripted text watchable; a headless demo has none.
const demoPace = 15 * time.Millisecond

func demoModel(o *flags.Request) models.Model {
	pace := demoPace
	if o.Print {
		pace = 0
	}
	return models.Model{Provider: script.New(script.Options{Script: demo.Script, Name: "demo", Pace: pace}), Name: "demo", Profile: models.Coder()}
}
