package conversation

import (
	"context"

	"adze/internal/cmd"
	"adze/internal/llm/models"
	"adze/internal/project/discovery"
	"adze/internal/project/skills"
	"adze/internal/run/guard"
	"adze/internal/run/settings"
	"adze/prompts"
	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// states returns the state of each command, skill and agent from files in this session.
func (w *Conversation) states(ctx context.Context) (out []cmd.ContextItem) {
	add := func(i discovery.Item, state, why string) {
		out = append(out, cmd.ContextItem{Kind: string(i.Kind), Name: i.Name, Origin: string(i.Origin), Path: i.Path, Bytes: i.Bytes, State: state, Why: why})
	}
	for _, i := range w.Menu.Items {
		if i.Kind == discovery.Command && i.Origin != discovery.BuiltIn {
			state, why := i.State()
			add(i, state, why)
		}
	}
	for _, i := range w.Menu.Skills {
		state, why := skills.State(ctx, i, w.Session.System(), w.Session.History())
		add(i, state, why)
	}
	index, indexed := prompts.Part(w.Session.System(), "agents")
	for _, k := range w.kinds {
		if k.Path != "" {
			state, why := k.State(index, indexed, w.leader.Label())
			add(discovery.Item{Kind: discovery.Agent, Name: k.Name, Origin: k.Origin, Path: k.Path, Bytes: k.Bytes}, state, why)
		}
	}
	return out
}

// Catalogue creates a folder's tools without a model or a session. told receives errors about
// omitted tools.
func Catalogue(ctx context.Context, s *settings.Settings, told func(error), use func(*tool.Set) error) error {
	w := &Conversation{clientAccess: &clientAccess{}, Settings: s, observe: func(session.Event) {}}
	defer w.Close()
	if err := w.addGuard(guard.Wish{}); err != nil {
		return err
	}
	deps := w.deps()
	deps.Search, _ = searchEngine(s)
	registry, err := toolset.New(deps)
	if err != nil {
		return err
	}
	for _, mistake := range deps.Declared.Mistakes {
		told(mistake)
	}
	w.useServers()
	set, err := w.Servers.Set(ctx, registry, s.Root.Dir())
	if err != nil {
		return err
	}
	return use(set)
}

// Offered lists the tools available to a run in a folder.
func Offered(ctx context.Context, s *settings.Settings) ([]tool.Definition, error) {
	w := &Conversation{clientAccess: &clientAccess{}, Settings: s, observe: func(session.Event) {}}
	defer w.Close()
	if err := w.addGuard(guard.Wish{}); err != nil {
		return nil, err
	}
	w.useServers()
	set, err := toolsFor(ctx, &s.Request.Run, w.deps(), s.Root.Dir(), models.Coder(), w.Servers)
	if err != nil {
		return nil, err
	}
	return set.Named(func(name string) bool { return name != "tool_search" }).Definitions(), nil
}

// Expect builds a session to inspect its next request, with a store in memory; with an id it
// resumes that session.
func Expect(ctx context.Context, s *settings.Settings, logs session.Store, id session.ID, use func(cmd.Context) error) error {
	w := &Conversation{clientAccess: &clientAccess{}, observe: func(session.Event) {}}
	defer w.Close()
	w.settle(ctx, s, w.observe)
	chosen, err := choose(ctx, s, w.kinds, storeOpening{wait: func() (session.Store, session.ID, bool, error) { return logs, id, true, nil }})
	if err != nil {
		return err
	}
	m := chosen.unasked()
	w.useChoice(chosen)
	factory, err := newSubagents(m, w)
	if err != nil {
		return err
	}
	if err := w.addGuard(guard.Wish{Spill: s.At.Spill}); err != nil {
		return err
	}
	shelf, err := factory.makeTools(ctx)
	if err != nil {
		return err
	}
	system, err := w.system(ctx, m.Profile.Prompt)
	if err != nil {
		return err
	}
	config := factory.sessionConfig(ctx, sessionParts{id: id, store: logs, system: system, offer: shelf})
	if id == "" {
		w.Session = session.New(config)
	} else if w.Session, err = session.Resume(ctx, config); err != nil {
		return err
	}
	c := cmd.Context{Session: id, Cwd: s.Root.Dir(), Profile: m.Profile.Prompt}
	c.Ledger, c.Offer = w.Session.Expect(ctx, session.Input{Text: s.Request.Asked})
	c.Tools, c.Texts = w.Set.Load().Names(), w.Room.Listed()
	c.Found = w.states(ctx)
	if c.Runs, err = s.Survey(); err != nil {
		w.Notices = append(w.Notices, err.Error())
	}
	c.Notices = w.Notices
	return use(c)
}
