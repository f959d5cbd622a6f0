package conversation

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/files/workspace"
	"adze/internal/llm/models"
	"adze/internal/run/flags"
	"adze/internal/run/servers"
	"adze/internal/run/settings"
	"adze/internal/text/usage"
	"adze/internal/web"
	"adze/internal/web/websearch"
	"adze/tool"
	"adze/toolset"
)

// deps creates the dependencies of the built-in tools. Commands get the user's environment without
// secrets.
func (w *Conversation) deps() toolset.Deps {
	s := w.Settings
	shell := w.NewShell()
	w.closers = append(w.closers, shell.Close)
	if w.code = newLanguageServers(s, w.Guard); w.code != nil {
		w.closers = append(w.closers, w.code.Close)
	}
	w.seen = &workspace.Seen{}
	return toolset.Deps{
		Web:      web.New(w.Reach()),
		Withhold: func(root string) func(dir, name string) bool { return w.Gate.FileFilter(root) },
		Root:     s.Root, Seen: w.seen, Shell: shell, Todos: &toolset.Todos{}, Stage: w.Staging.stage, Code: w.code,
		Declared: &toolset.Declared{Dir: filepath.Join(s.At.Config, "tools"), Project: s.ProjectTools()},
	}
}

// sandboxHint is the advice for a missing required sandbox.
const sandboxHint = "adze doctor says what is missing; without --sandbox on commands run outside, as the rules and you allow"

// toolsFor creates the tools and selects those for this run.
func toolsFor(ctx context.Context, o *flags.Run, deps toolset.Deps, dir string, p models.Profile, m *servers.Servers) (*tool.Set, error) {
	registry, err := toolset.New(deps)
	if err != nil {
		return nil, err
	}
	m.Enlist(registry)
	set, err := registry.Tools(ctx, tool.Init{Workspace: dir, Directory: dir, Cwd: dir})
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
