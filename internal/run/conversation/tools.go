package conversation

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"adze/internal/llm/models"
	"adze/internal/llm/toolselect"
	"adze/internal/project/agents"
	"adze/internal/project/instructions"
	"adze/internal/project/plan"
	"adze/internal/run/flags"
	"adze/internal/run/servers"
	"adze/internal/run/settings"
	sessiondboutputs "adze/internal/sessiondb/outputs"
	"adze/internal/text/usage"
	"adze/internal/web"
	"adze/internal/web/websearch"
	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// tools are a run without a session: its tools and prompt, and its subagents.
type tools struct {
	*base
	Servers   *servers.Servers         // nil without servers
	Set       atomic.Pointer[tool.Set] // tools may join while panes read it
	Room      *instructions.Reader
	deps      toolset.Deps
	plan      *plan.Manager
	agents    *agents.Agents
	profile   models.Profile
	taskModel models.Model // the subagents'
	offer     *toolselect.Selector
	system    string         // prompt
	main      session.Config // the session's, once it is open: subagents derive theirs
}

// newTools creates the run's tools and the selection to offer them from. The tools of subagents are
// created with the first task, because most runs have none.
func newTools(ctx context.Context, b *base) (t *tools, err error) {
	s, o := b.Settings, &b.Settings.Request
	t = &tools{base: b, profile: b.model.Profile, taskModel: b.model, deps: b.newDeps(), plan: b.newPlan(), Servers: b.newServers()}
	if o.Serves {
		t.profile = models.Coder() // the caller is not the model
	}
	if name := s.Config.TaskModel; name != "" && !o.Written() {
		if t.taskModel, err = s.Models(s.Config).Named(name); err == nil {
			err = affordable(&o.Run, s.Models(s.Config), t.taskModel)
		}
		if err != nil {
			return nil, err
		}
	}
	t.agents, t.offer = agents.New(0, t.config), t.newShelf(t.profile)
	t.deps.AskProcesses, t.deps.Inquire, t.deps.Formatters = o.Serves, b.inquire(), formatters(s, b.Guard)
	if o.ByHand == nil {
		t.deps.Plans = t.plan
	}
	if b.shelf != nil {
		t.deps.Skills = b.shelf
	}
	t.deps.Finder, t.deps.Brief, t.deps.Tasks = t.offer, t.profile.Budget > 0, t.tasks()
	b.Menu.LendModel = t.lend
	if t.Servers != nil {
		b.Menu.Expander = t.Servers.SlashPrompt
	}
	set, err := t.mainTools(ctx, t.deps)
	if err != nil {
		return nil, err
	}
	t.deps.Shell.EndsAtLimit = o.ByHand != nil || !readsOn(set)
	t.deps.Shell.Spill = outputsOf(b).Open
	if s.Hide != nil {
		t.deps.Shell.Spill = outputsOf(b).OpenMasked // the shell masks its output
	}
	for _, mistake := range t.deps.Declared.Mistakes {
		b.notices = append(b.notices, mistake.Error())
	}
	t.joining()
	t.Set.Store(t.offer.Fill(set))
	return t, t.instruct(ctx)
}

// outputsOf returns the store for the session's complete outputs.
func outputsOf(b *base) sessiondboutputs.Files {
	out := sessiondboutputs.NewFiles(filepath.Join(b.Settings.Places.Spill, string(b.id)))
	out.Mask = b.Settings.Ring.Mask
	return out
}

// instruct renders the system prompt.
func (t *tools) instruct(ctx context.Context) error {
	s, source, name := t.Settings, t.Settings.Request.Instructions(), t.model.Profile.Prompt
	if _, offered := t.Set.Load().Get("skill"); offered {
		source.Skills = t.shelf.Index(ctx, s.Request.Asked, name == "local")
	}
	t.Room = instructions.New(source, s.InstructionPlaces())
	t.closers = append(t.closers, func() { t.Room.Close() })
	text, err := t.Room.Render(name, time.Now())
	t.notices, t.system = append(t.notices, t.Room.Notices()...), s.Masked(text)
	return err
}

// readsOn reports whether a model with these tools can read more output from a job.
func readsOn(set *tool.Set) bool { return set.Has("bash_output") }

// mainTools returns the run's own tools.
func (t *tools) mainTools(ctx context.Context, deps toolset.Deps) (*tool.Set, error) {
	set, err := toolsFor(ctx, &t.Settings.Request.Run, deps, t.Settings.Root.Dir(), t.profile, t.Servers)
	if err == nil && t.leader.Name != "" {
		set = set.Only(t.leader.HasTool)
	}
	return set, err
}

// joining lets server tools join during the run.
func (t *tools) joining() {
	m := t.Servers
	if m == nil {
		return
	}
	t.notices = append(t.notices, m.Begin()...)
	again := func(ctx context.Context) (*tool.Set, error) {
		deps := t.deps
		deps.Declared = &toolset.Declared{Dir: deps.Declared.Dir, Project: deps.Declared.Project} // New writes to it
		return t.mainTools(ctx, deps)
	}
	t.offer.Joining = toolselect.Joining{
		Search: func(ctx context.Context) *tool.Set { return m.Search(ctx, again) },
		Set: func(ctx context.Context, o session.Occasion) *tool.Set {
			set := m.Join(ctx, o, again)
			if set != nil {
				t.Set.Store(set)
			}
			return set
		},
	}
}

// tasks returns the task tool's backend. A scripted call has no model for tasks.
func (t *tools) tasks() toolset.Tasks {
	switch {
	case t.Settings.Request.ByHand != nil || t.model.Provider == silentProvider(MCPProvider):
		return nil
	case t.Settings.Request.Serves:
		return taskWaiter{t.agents}
	}
	return t.agents
}

// sandboxHint is the advice for a missing required sandbox.
const sandboxHint = "adze doctor says what is missing; without --sandbox on commands run outside, as the rules and you allow"

// toolsFor creates the tools and selects those for this run.
func toolsFor(ctx context.Context, o *flags.Run, deps toolset.Deps, dir string, p models.Profile, m *servers.Servers) (*tool.Set, error) {
	set, err := allTools(ctx, deps, dir, m)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Concat(o.Tools, o.NoTools) {
		if !set.Has(name) {
			return nil, usage.Mistake("the tools are: "+fmt.Sprint(slices.Sorted(slices.Values(set.Names()))), "there is no tool %q", name)
		}
	}
	return set.Named(func(name string) bool {
		switch {
		case slices.Contains(o.NoTools, name):
			return false
		case o.NamesTools():
			return slices.Contains(o.Tools, name)
		case name == "task_complete":
			return o.TaskComplete || p.TaskComplete
		case name == "task":
			return p.Tasks
		}
		return true
	}), nil
}

// allTools creates the built-in tools and those of servers.
func allTools(ctx context.Context, deps toolset.Deps, dir string, m *servers.Servers) (*tool.Set, error) {
	registry, err := toolset.New(deps)
	if err != nil {
		return nil, err
	}
	m.RegisterTools(registry)
	return registry.Tools(ctx, tool.Init{Workspace: dir, Directory: dir, Cwd: dir})
}

// searchEngine returns the configured search engine, or nil with a notice if it cannot be used. It
// may be local or in a private network, because the user configured its address; the client
// connects to no other address there.
func searchEngine(s *settings.Settings) (engine toolset.WebSearch, notices []string) {
	c := s.Config.Search
	if c.Engine == "" {
		return nil, nil
	}
	o := websearch.Options{Engine: c.Engine, BaseURL: c.BaseURL, KeyName: strings.Join(c.Keys(), " or ")}
	for _, name := range c.Keys() {
		o.Key = cmp.Or(o.Key, s.Getenv(name))
	}
	var e *websearch.Engine
	here := func(host string, port uint16) bool { return host == e.Host() && port == e.Port() }
	there := web.Policy{
		AllowPort: here,
		AllowAddr: func(host string, at netip.AddrPort) bool { return c.BaseURL != "" && here(host, at.Port()) },
	}
	o.Connect = there.Connect
	e, err := websearch.New(o)
	if err != nil {
		return nil, []string{"the web cannot be searched: " + err.Error()}
	}
	return e, nil
}
