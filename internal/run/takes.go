package run

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"adze/internal/mcp"
	projecthooks "adze/internal/project/hooks"
	"adze/internal/project/trust"
)

// personLayer is the first word in the names of the user's own hooks.
const personLayer = "person"

// takers are the servers, hooks and formatters of the user's own configuration that take code from
// this folder. The user is asked about each once for the folder, because what they configured for
// all folders says nothing about what lies in this one.
func (s settings) takers() (out []trust.Item) {
	p := trust.Project{Dir: s.root.Dir(), Home: s.home}
	add := func(i trust.Item, why string, definition any) {
		i.Means = why
		i.Raw, _ = json.Marshal(definition) // it was read from JSON
		out = append(out, i)
	}
	for _, one := range s.ownServers() {
		if why := takesAsServer(one, p.Dir); why != "" {
			add(trust.Item{Kind: trust.Server, ID: one.Name, From: s.file, When: "its tools are asked for", Argv: one.Command, Cwd: within(p.Dir, one.Dir),
				Env: slices.Sorted(maps.Keys(one.Env))}, why, s.config.MCP.Servers[one.Name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.config.Formatters)) {
		one := s.config.Formatters[name]
		if why := p.Takes(one.Command, ""); why != "" {
			add(trust.Item{Kind: trust.Formatter, ID: name, From: s.file, When: "a file was changed", Argv: one.Command}, why, one)
		}
	}
	path := filepath.Join(s.at.Config, projecthooks.File)
	hooks, err := projecthooks.Load(path, os.Getuid(), personLayer)
	if err != nil {
		return out // a run tells, and does not start
	}
	for _, one := range hooks {
		if why := p.Takes(one.Argv, one.Shell); why != "" {
			i := trust.Item{Kind: trust.Hook, ID: one.Name, From: path, When: one.Native, Argv: one.Argv}
			if one.Shell != "" {
				i.Shell = []string{one.Shell}
			}
			add(i, why, json.RawMessage(one.Raw))
		}
	}
	return out
}

// takesAsServer says what a server of the user's takes from a folder; if empty, nothing.
func takesAsServer(one mcp.Server, dir string) string {
	switch {
	case len(one.Command) == 0:
		return ""
	case one.InWorkspace(dir):
		return "it starts in this folder, and may take code from it"
	}
	return trust.RunsFrom(one.Command, dir)
}

// within is a folder relative to the one that it lies in; if empty, it lies elsewhere.
func within(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); path != "" && err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return ""
}

// mayTake says how a hook or a formatter of the user's may run: as ever where it takes no code from
// this folder, or the user allowed it to; else in a full sandbox, where there is one.
func (w *wired) mayTake(s settings, kind, name string, words []string, shell string) func() (inside bool, err error) {
	return func() (bool, error) {
		p := s.project()
		if p.Takes(words, shell) == "" {
			return false, nil
		}
		for _, i := range s.takers() {
			if i.Kind != kind || i.ID != name {
				continue
			}
			err := p.Holds(p.Named(i))
			if err != nil && w.cage.Full() {
				return true, nil
			}
			return false, err
		}
		return false, nil
	}
}

// takingServers are the servers of the user's that may start when the user allowed it here.
func (s settings) takingServers() map[string]trust.Item {
	out, p := map[string]trust.Item{}, s.project()
	for _, i := range s.takers() {
		if i.Kind == trust.Server {
			out[i.ID] = p.Named(i)
		}
	}
	return out
}
