package run

import (
	"maps"
	"slices"
	"strings"

	mcpCmd "adze/internal/cmd/mcp"
	"adze/internal/mcp"
	"adze/internal/project/trust"
	"adze/internal/run/settings"
)

// serversOf returns the configured servers, the user's own first.
func serversOf(s *settings.Settings, pool *mcp.Pool) (out []mcpCmd.ServerEntry, err error) {
	for _, name := range slices.Sorted(maps.Keys(s.Config.MCP.Servers)) {
		c := s.Config.MCP.Servers[name]
		l := mcpCmd.ServerEntry{Name: name, From: s.File, URL: c.URL, Mine: true}
		if c.Command != "" {
			l.Command = trust.Item{Argv: append([]string{c.Command}, c.Args...)}.Command()
		}
		if c.Off {
			l.State = mcpCmd.Disabled
		} else {
			l.State, l.Why = stateOf(pool, name)
		}
		out = append(out, l)
	}
	items, err := s.Survey()
	if err != nil {
		return nil, err
	}
	for _, i := range items {
		if i.Kind != trust.Server {
			continue
		}
		if i.Mine { // a user's server that would start in this folder
			name := strings.TrimSuffix(strings.TrimPrefix(i.ID, trust.Server+":"), "@config")
			for n := range out {
				if out[n].Name == name && out[n].State != mcpCmd.Disabled && i.State != trust.Allowed {
					out[n].State, out[n].Why = mcpCmd.NeedsConsent, i.Means+"; adze permission trust allow "+i.ID+" lets it in this folder"
				}
			}
			continue
		}
		l := mcpCmd.ServerEntry{Name: strings.TrimPrefix(i.ID, trust.Server+":"), State: mcpCmd.NeedsConsent, From: i.From, URL: i.URL, Why: i.Problem}
		if i.URL == "" {
			l.Command = i.Command()
		}
		_, mine := s.Config.MCP.Servers[l.Name]
		switch {
		case i.Problem != "":
			l.State = mcpCmd.Broken
		case i.State == trust.Changed:
			l.Why = "its entry changed since you agreed to it"
		case i.State != trust.Allowed:
		case mine || !slices.Contains(pool.Names(), l.Name):
			l.State, l.Why = mcpCmd.Hidden, "it is switched off, or another server has its name"
		default:
			l.State, l.Why = stateOf(pool, l.Name)
		}
		out = append(out, l)
	}
	return out, nil
}

// stateOf returns a permitted server's known state, without starting it.
func stateOf(pool *mcp.Pool, name string) (state, why string) {
	if conf, ok := pool.Server(name); ok && conf.Err != nil {
		return mcpCmd.Failed, conf.Err.Error()
	}
	last := pool.Last(name)
	switch {
	case last.State == mcp.Failed && last.Login:
		return mcpCmd.NeedsLogin, last.Why
	case last.State == mcp.Failed:
		return mcpCmd.Failed, last.Why
	case pool.Catalogue(name) == nil:
		return mcpCmd.NeverStarted, ""
	}
	return mcpCmd.Ready, ""
}
