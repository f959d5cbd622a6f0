package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/config"
	"adze/internal/config/paths"
	"adze/internal/llm/models"
	"adze/internal/llm/toolselect"
	"adze/internal/policy"
	"adze/internal/project/agents"
	"adze/internal/project/discovery"
	"adze/internal/sessiondb/audit"
	"adze/internal/sessiondb/claims"
	"adze/internal/sessiondb/lookup"
	"adze/prompts"
	"adze/session"
	"adze/tool"
	"adze/tool/rank"
)

// models finds models for a configuration of this user.
func (a *app) models(cfg config.Config) *models.Finder {
	return models.New(cfg, config.File(a.Getenv, paths.Of(a.Getenv).Config), a.Getenv).With(a.keys).Sharing(&a.servers)
}

// modelOf chooses the model of a run and makes sure that the run can keep to its limits with it.
func (a *app) modelOf(ctx context.Context, o *options, w *wired, logs opening) (models.Model, error) {
	if err := a.recall(ctx, o, w, logs); err != nil {
		return models.Model{}, err
	}
	cfg := w.settings.config
	find := a.models(cfg)
	m, err := o.modelFrom(ctx, find, a.keys.Secrets(cfg))
	if err != nil {
		return m, err
	}
	if err := o.affordable(find, m); err != nil {
		return m, err
	}
	kept := ""
	if m.Full() == w.past.Model {
		kept = w.past.Server
	}
	m, notice := m.Settled(ctx, kept)
	if notice != "" {
		w.notices = append(w.notices, notice)
	}
	m = suited(m.Shared(filepath.Join(paths.Of(a.Getenv).State, "asking")), cfg)
	if !o.serves {
		m.Warm(ctx)
	}
	if o.record == "" {
		return m, nil
	}
	m, file, err := m.Record(o.record, a.keys.Secrets(cfg))
	if err == nil {
		w.closers = append(w.closers, func() { file.Close() })
	}
	return m, err
}

// suited is a model with the tools always offered that this run wants, whatever they cost.
func suited(m models.Model, cfg config.Config) models.Model {
	if cfg.TaskModel != "" && !m.Profile.Tasks {
		m.Profile.Tasks, m.Profile.Core = true, append(slices.Clone(m.Profile.Core), "task")
	}
	if cfg.PermissionMode == string(policy.Plan) {
		m.Profile.Core = append(slices.Clone(m.Profile.Core), "plan")
	}
	return m
}

// unasked is the model of a run that asks none; of one that cannot be used now only the name is
// known.
func (a *app) unasked(ctx context.Context, o *options, w *wired, logs session.Store, id session.ID) models.Model {
	s := &w.settings
	a.recall(ctx, o, w, func() (session.Store, session.ID, bool, error) { return logs, id, true, nil })
	if slices.Contains([]string{"embedding", "hybrid", "model"}, s.config.Tools.Scorer) {
		s.config.Tools.Scorer = ""
		w.notices = append(w.notices, "a server chooses the tools of a run here; what is shown is chosen without it")
	}
	m, ok, err := a.models(s.config).Configured()
	if err != nil {
		w.notices = append(w.notices, err.Error())
	}
	if err != nil || !ok {
		provider, name, _ := strings.Cut(s.config.Model, "/")
		m = models.Model{Provider: nobody(provider), Name: name, Profile: models.Coder()}
	}
	kept := ""
	if m.Full() == w.past.Model {
		kept = w.past.Server
		m = m.Presumed(kept)
	}
	if address := m.Unasked(kept); address != "" {
		w.notices = append(w.notices, "which program answers at "+address+" is not known before a run asks it: with a program for local models "+
			"the prompt is shorter and the tools are fewer, some under other names")
	}
	return suited(m, s.config)
}

// nobody is a provider that answers nothing.
type nobody string

func (n nobody) Name() string { return string(n) }

func (nobody) Stream(context.Context, session.Request) iter.Seq[session.Chunk] {
	return func(func(session.Chunk) bool) {}
}

// opening waits until the session of a run is picked and its store open.
type opening func() (session.Store, session.ID, bool, error)

// recall has a session that is gone on with keep its model, where nobody named another, and the
// agent that leads it.
func (a *app) recall(ctx context.Context, o *options, w *wired, logs opening) error {
	resumed := o.resume != "" || o.resumeLast
	if resumed && o.byHand == nil && !o.demo {
		stored, id, _, err := logs()
		if err != nil {
			return err // the session says more than that it names no model
		}
		w.past = lookup.Last(ctx, stored, id)
	}
	full := w.past.Model
	if err := a.lead(o, w, w.past.Lead, resumed); err != nil {
		return err
	}
	if o.model != "" || o.replay != "" || full == "" || full == w.settings.config.Model || strings.HasPrefix(full, audit.Hand+"/") {
		return nil
	}
	if _, err := a.models(w.settings.config).Named(full); err != nil {
		w.notices = append(w.notices, fmt.Sprintf("this session worked with %s, which cannot be used: %v", full, err))
		return nil
	}
	w.settings.config.Model = full
	w.settings.config.Set("model", "the session")
	return nil
}

// modelFrom is what the flags put in a model's place, else the model that is found.
func (o *options) modelFrom(ctx context.Context, find *models.Finder, secrets []string) (models.Model, error) {
	switch {
	case o.byHand != nil:
		return models.Model{Provider: o.byHand, Name: "tools-run", Profile: models.Coder()}, nil
	case o.serves:
		return o.hired(find)
	case o.demo:
		return demoModel(o), nil
	case o.replay != "":
		return models.Recording(o.replay, secrets)
	}
	return find.Choose(ctx)
}

// affordable refuses a limit in money that nobody could hold.
func (o *options) affordable(find *models.Finder, m models.Model) error {
	if o.maxCost == 0 || find.Priced(m) {
		return nil
	}
	return misuse(`write down what a million tokens cost: {"models": {"`+m.Full()+`": {"price": {"input": 3, "output": 15}}}} in `+find.File,
		"--max-cost cannot be held: the price of %s is not known", m.Full())
}

// requests is what decides what the requests of a session hold, for a run and for who only wants to
// know.
func (a *app) requests(w *wired, m models.Model, system string, shelf *toolselect.Shelf) session.Config {
	s := w.settings
	find := a.models(s.config)
	return session.Config{
		Claims:   claims.Of(s.root.Dir(), s.config.Claims, "task"),
		Provider: m.Provider, Model: m.Name, Tools: w.set.Load(), Mask: s.marked(), Pieces: w.room.Pieces, Offer: shelf.Offerer(), Sum: prompts.Compact(),
		Price: find.Prices(), Window: find.Windows(m), Blind: find.Blind(m),
		Notes: w.tells, Kept: w.shelf.Kept,
		Start: session.Start{Version: Version, Cwd: s.root.Dir(), Model: m.Full(), Server: m.Server, System: system, Tools: w.set.Load().Digest()},
	}
}

// newShelf makes the shelf of a run. Tools that the user named are all offered.
func (a *app) newShelf(o *options, w *wired, p models.Profile) (*toolselect.Shelf, error) {
	s := w.settings
	scorer, err := a.scorer(s, s.config.Tools.Scorer)
	if err != nil {
		return nil, err
	}
	all, budget := s.config.Tools.OfferAbove, p.Budget
	if o.namesTools() {
		all, budget = max(len(o.tools), 1), 0
	}
	shelf := toolselect.New(scorer, p.Core, budget, all)
	shelf.Indexes = filepath.Join(s.at.State, "picks")
	if !o.namesTools() && o.byHand == nil {
		shelf.Late = toolselect.Usually(toolselect.Facts{
			Repository: func() bool { return w.room.Repository() },
			Planning:   func() bool { return w.gate.Mode() == policy.Plan },
			Agents:     func() bool { return w.kinds.Written() },
		})
	}
	return shelf, nil
}

// scorer finds a scorer by its name; empty is the default.
func (a *app) scorer(s settings, name string) (rank.Scorer, error) {
	return toolselect.NewScorers(s.config, a.Getenv, s.at.State, func(model string) (func(context.Context, string, string) (string, error), error) {
		return a.asks(s.config, model)
	}).Named(name)
}

// asks asks a model one question without tools and without a session.
func (a *app) asks(cfg config.Config, name string) (func(ctx context.Context, instruction, question string) (string, error), error) {
	m, err := a.models(cfg).Named(name)
	if err != nil {
		return nil, err
	}
	return m.Answer, nil
}

// repairer is the model of the configuration that may mend arguments; nil without one, which is the
// default. What it spends is not counted in the usage of the session.
func (a *app) repairer(cfg config.Config) (tool.Repairer, error) {
	if cfg.RepairModel == "" {
		return nil, nil
	}
	m, err := a.models(cfg).Named(cfg.RepairModel)
	if err != nil {
		return nil, fmt.Errorf("repair_model: %w", err)
	}
	return m.Mender(prompts.Repair()), nil
}

// lead finds the agent that leads the conversation: the one that the user names, else that of a
// session that is gone on with. It only narrows what the user allows.
func (a *app) lead(o *options, w *wired, stored string, resumed bool) error {
	name := cmp.Or(o.agent, stored)
	if name == "" {
		return nil
	}
	if o.agent != "" && resumed && o.agent != stored {
		return misuse("leave --agent out, or start a new session with it", "this session is led by %s and stays so", cmp.Or(stored, "adze's own agent"))
	}
	k, err := w.kinds.Named(name)
	if err == nil && !k.Main {
		err = fmt.Errorf("the agent %q only takes tasks; no conversation is led by it", name)
	}
	if err != nil && o.agent == "" {
		w.notices = append(w.notices, fmt.Sprintf("the agent %s that leads this session is not there any more; it goes on with what was told then, and without its limits", name))
		return nil
	}
	if err != nil {
		return misuse("agents are files in .adze/agents, .claude/agents and the like, of the project or in your home", "--agent: %v", err)
	}
	w.leader = k
	cfg := &w.settings.config
	if wish := cmp.Or(o.Mode, cfg.PermissionMode, string(policy.AskFirst)); k.Mode != "" {
		o.Mode = string(policy.Narrower(policy.Mode(wish), policy.Mode(k.Mode)))
	}
	if k.Model == "" || o.model != "" || resumed || o.written() {
		return nil
	}
	m, err := a.modelOfKind(cfg, k, providerOf(a.models(*cfg), cfg.Model))
	if err != nil {
		w.notices = append(w.notices, fmt.Sprintf("the agent %s names the model %q, which is not used: %v", k.Name, k.Model, err))
		return nil
	}
	cfg.Model = m.Full()
	cfg.Set("model", "the agent "+k.Name)
	return nil
}

// modelOfKind is the model that the file of an agent names. That of a project may only choose among
// those of the provider that is used: which company reads the code is for the user to say.
func (a *app) modelOfKind(cfg *config.Config, k agents.Kind, provider string) (models.Model, error) {
	return a.modelOfFile(cfg, k.Origin, k.Model, provider)
}

// modelOfFile is the same of any file.
func (a *app) modelOfFile(cfg *config.Config, of discovery.Origin, name, provider string) (models.Model, error) {
	m, err := a.models(*cfg).Among(provider, name)
	if err == nil && of == discovery.Project && m.Provider.Name() != provider {
		err = errors.New("the file of a project chooses no provider; name the model with --model, or keep the file among your own")
	}
	return m, err
}

// providerOf is the provider of the model that a run would use; if empty, it has none yet.
func providerOf(find *models.Finder, full string) string {
	if m, err := find.Named(full); err == nil {
		return m.Provider.Name()
	}
	if m, ok, err := find.Configured(); ok && err == nil {
		return m.Provider.Name()
	}
	return ""
}
