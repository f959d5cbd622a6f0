package app

import (
	"maps"
	"slices"
	"strings"

	"adze/internal/command/servers"
	"adze/internal/mcp"
	"adze/internal/trust"
)

// listed are the servers that somebody named, those of the user first.
func (s settings) listed(pool *mcp.Pool) (out []servers.Listed, err error) {
	for _, name := range slices.Sorted(maps.Keys(s.config.MCP.Servers)) {
		c := s.config.MCP.Servers[name]
		l := servers.Listed{Name: name, State: "on", From: s.file, URL: c.URL, Mine: true}
		if c.Command != "" {
			l.Command = trust.Item{Argv: append([]string{c.Command}, c.Args...)}.Command()
		}
		if c.Off {
			l.State = "off"
		}
		out = append(out, l)
	}
	items, err := s.survey()
	if err != nil {
		return nil, err
	}
	for _, i := range items {
		if i.Kind != trust.Server {
			continue
		}
		l := servers.Listed{Name: strings.TrimPrefix(i.ID, trust.Server+":"), State: string(i.State), From: i.From, URL: i.URL, Why: i.Problem}
		if i.URL == "" {
			l.Command = i.Command()
		}
		if i.State == trust.Allowed {
			l.State = "on"
			if _, mine := s.config.MCP.Servers[l.Name]; mine || !slices.Contains(pool.Names(), l.Name) {
				l.State, l.Why = "hidden", "it is switched off, or another server has its name"
			}
		}
		out = append(out, l)
	}
	for i, l := range out {
		for _, st := range pool.States() {
			if st.Name == l.Name && l.State == "on" && st.Why != "" {
				out[i].Why = st.Why
			}
		}
	}
	return out, nil
}
