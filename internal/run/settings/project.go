package settings

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"adze/internal/cmd"
	"adze/internal/mcp"
	"adze/internal/project/hooks"
	"adze/internal/project/trust"
	"adze/internal/sandbox/proc"
	"adze/toolset"
)

// ByUser returns an error if a call of adze started this process; otherwise it announces a change
// to one of the permission-related files.
func (s *Settings) ByUser(what string) error {
	err := cmd.ByUser(s.Places, what)
	if err == nil {
		s.OwnFiles.Changes()
	}
	return err
}

// Project returns the workspace with its user's consents.
func (s *Settings) Project() trust.Project {
	env := sync.OnceValue(func() []string { // few projects need it
		return proc.Environ(os.Environ(), proc.EnvPolicy{Allow: s.Config.Environment})
	})
	var sdks func() []trust.Item // nil if no language server may run
	if s.UseLanguageServers() {
		sdks = s.sdks
	}
	book := trust.OpenBook(s.Places.State)
	book.May, book.Problem = func() error { return s.ByUser("a consent") }, s.OwnFiles.Trusted
	return trust.Project{
		Dir: s.Root.Dir(), Main: s.main(), Book: book, SDKs: sdks,
		Local:     func(program string) string { return proc.ProgramIn(program, s.Root.Dir(), env()) },
		UserItems: s.Takers, Home: s.Home,
	}
}

// ProjectTools returns the project's tools with the user's consent, which each call verifies.
func (s *Settings) ProjectTools() (out []toolset.ProjectTool) {
	p := s.Project()
	items, _ := s.Survey() // tellProject reports errors
	for _, i := range items {
		if i.Kind == trust.Tool && i.State == trust.Allowed {
			out = append(out, toolset.ProjectTool{Path: i.Path, Raw: i.Raw, Holds: func() error { return p.Holds(i) }})
		}
	}
	return out
}

// ProjectHooks returns the project's hooks with the user's consent in file order; each start
// verifies the consent.
func (s *Settings) ProjectHooks() (out []hooks.Program) {
	p := s.Project()
	items, _ := s.Survey() // tellProject reports errors
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b trust.Item) int { return a.Order - b.Order })
	for _, i := range items {
		if i.Kind == trust.Hook && i.State == trust.Allowed && i.Hook != nil {
			out = append(out, hooks.Program{Hook: *i.Hook, Name: strings.TrimPrefix(i.ID, "hook:"), Holds: func() error { return p.Holds(i) }})
		}
	}
	return out
}

// PersonLayer is the first word in the names of the user's own hooks.
const PersonLayer = "person"

// Takers returns the user's own servers, hooks and formatters that take code from this folder. The
// user is asked about each once per folder, because configuring it for all folders does not cover
// this folder's code.
func (s *Settings) Takers() (out []trust.Item) {
	p := trust.Project{Dir: s.Root.Dir(), Home: s.Home}
	add := func(i trust.Item, why string, definition any) {
		i.Definition = why
		i.Raw, _ = json.Marshal(definition) // it was read from JSON
		out = append(out, i)
	}
	for _, one := range s.OwnServers() {
		if why := takesAsServer(one, p.Dir); why != "" {
			add(trust.Item{Kind: trust.Server, ID: one.Name, Source: s.File, Trigger: "its tools are asked for", Argv: one.Command, Cwd: within(p.Dir, one.Dir),
				Env: slices.Sorted(maps.Keys(one.Env))}, why, s.Config.MCP.Servers[one.Name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Config.Formatters)) {
		one := s.Config.Formatters[name]
		if why := p.ProjectCode(one.Command, ""); why != "" {
			add(trust.Item{Kind: trust.Formatter, ID: name, Source: s.File, Trigger: "a file was changed", Argv: one.Command}, why, one)
		}
	}
	path := filepath.Join(s.Places.Config, hooks.File)
	own, err := hooks.Load(path, os.Getuid(), PersonLayer)
	if err != nil {
		return out // a run reports the error and does not start
	}
	for _, one := range own {
		if why := p.ProjectCode(one.Argv, one.Shell); why != "" {
			i := trust.Item{Kind: trust.Hook, ID: one.Name, Source: path, Trigger: one.Native, Argv: one.Argv}
			if one.Shell != "" {
				i.Shell = []string{one.Shell}
			}
			add(i, why, json.RawMessage(one.Raw))
		}
	}
	return out
}

// takesAsServer describes the code that a user's server takes from a folder, or returns "".
func takesAsServer(one mcp.Server, dir string) string {
	switch {
	case len(one.Command) == 0:
		return ""
	case one.InWorkspace(dir):
		return "it starts in this folder, and may take code from it"
	}
	return trust.RunsFrom(one.Command, dir)
}

// within returns path relative to dir, or "" if it is outside.
func within(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); path != "" && err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return ""
}

// TakingServers returns the user's servers that need consent in this folder.
func (s *Settings) TakingServers() map[string]trust.Item {
	out, p := map[string]trust.Item{}, s.Project()
	for _, i := range s.Takers() {
		if i.Kind == trust.Server {
			out[i.ID] = p.Named(i)
		}
	}
	return out
}
