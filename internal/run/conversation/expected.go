package conversation

import (
	"context"
	"slices"

	"adze/internal/cmd"
	"adze/internal/llm/models"
	"adze/internal/project/discovery"
	"adze/internal/project/skills"
	"adze/internal/run/settings"
	"adze/prompts"
	"adze/session"
	"adze/tool"
)

// states returns the state of each command, skill and agent from files in this session.
func (w *tools) states(ctx context.Context) (out []cmd.ContextItem) {
	add := func(i discovery.Item, state, why string) {
		out = append(out, cmd.ContextItem{Kind: string(i.Kind), Name: i.Name, Origin: string(i.Origin), Path: i.Path, Bytes: i.Bytes, State: state, Reason: why})
	}
	for _, i := range w.Menu.Items {
		if i.Kind == discovery.Command && i.Origin != discovery.BuiltIn {
			state, why := i.State()
			add(i, state, why)
		}
	}
	for _, i := range w.Menu.Skills {
		state, why := skills.State(ctx, i, w.later.Load().System(), w.later.Load().History())
		add(i, state, why)
	}
	index, indexed := prompts.Part(w.later.Load().System(), "agents")
	for _, k := range w.kinds {
		if k.Path != "" {
			state, why := k.State(index, indexed, w.leader.Label())
			add(discovery.Item{Kind: discovery.Agent, Name: k.Name, Origin: k.Origin, Path: k.Path, Bytes: k.Bytes}, state, why)
		}
	}
	return out
}

// bare returns a run with a folder's policy but without a project, a model or a user.
func bare(s *settings.Settings) (*base, error) {
	return newBase(newScope(func(session.Event) {}, UserCallbacks{}), &project{}, &choice{settings: s}, "", nil)
}

// Catalogue creates a folder's tools without a model or a session. told receives errors about
// omitted tools.
func Catalogue(ctx context.Context, s *settings.Settings, told func(error), use func(*tool.Set) error) error {
	b, err := bare(s)
	if err != nil {
		return err
	}
	defer b.end()
	deps := b.newDeps()
	set, err := allTools(ctx, deps, s.Root.Dir(), b.newServers())
	for _, mistake := range deps.Declared.Mistakes {
		told(mistake)
	}
	if err != nil {
		return err
	}
	return use(set)
}

// Offered lists the tools available to a run in a folder.
func Offered(ctx context.Context, s *settings.Settings) ([]tool.Definition, error) {
	b, err := bare(s)
	if err != nil {
		return nil, err
	}
	defer b.end()
	deps := b.newDeps()
	deps.Search = nil
	set, err := toolsFor(ctx, &s.Request.Run, deps, s.Root.Dir(), models.Coder(), b.newServers())
	if err != nil {
		return nil, err
	}
	return set.Named(func(name string) bool { return name != "tool_search" }).Definitions(), nil
}

// Expect builds a session to inspect its next request, with a store in memory; with an id it
// resumes that session.
func Expect(ctx context.Context, s *settings.Settings, logs session.Store, id session.ID, use func(cmd.Context) error) error {
	x := newScope(func(session.Event) {}, UserCallbacks{})
	x.notices = slices.Clone(s.Notices)
	defer x.end()
	p := newProject(ctx, x, s)
	c, err := choose(ctx, s, p.kinds, storeOpening{wait: func() opened { return opened{store: logs, id: id, resumed: true} }})
	if err != nil {
		return err
	}
	c.model = c.unasked()
	b, err := newBase(x, p, c, id, nil)
	if err != nil {
		return err
	}
	t, err := newTools(ctx, b)
	if err != nil {
		return err
	}
	opens, config := (*session.Session)(nil), t.sessionConfig(ctx, sessionParts{id: id, store: logs})
	if id == "" {
		opens = session.New(config)
	} else if opens, err = session.Resume(ctx, config); err != nil {
		return err
	}
	x.later.Store(opens)
	out := cmd.Context{Session: id, Cwd: s.Root.Dir(), Profile: t.model.Profile.Prompt}
	out.Ledger, out.Offer = opens.Expect(ctx, session.Input{Text: s.Request.Asked})
	out.Tools, out.Texts = t.Set.Load().Names(), t.Room.Listed()
	out.Found = t.states(ctx)
	if out.Runs, err = s.Survey(); err != nil {
		x.notices = append(x.notices, err.Error())
	}
	out.Notices = x.notices
	return use(out)
}
