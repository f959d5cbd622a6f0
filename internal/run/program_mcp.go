package run

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adze/internal/cmd/doctor"
	mcpCmd "adze/internal/cmd/mcp"
	"adze/internal/config"
	"adze/internal/mcp"
	"adze/internal/mcp/clients"
	"adze/internal/project/discovery"
	"adze/internal/project/trust"
	"adze/internal/run/guard"
	"adze/internal/run/servers"
	"adze/internal/run/settings"
	"adze/internal/text/plural"
)

// MCP passes this folder's servers to use.
func (a *app) MCP(ctx context.Context, use func(mcpCmd.Manager) error) error {
	return a.TryMCP(ctx, "", config.MCPServer{}, use)
}

// TryMCP is like MCP with an additional server that is not configured yet.
func (a *app) TryMCP(ctx context.Context, name string, one config.MCPServer, use func(mcpCmd.Manager) error) error {
	return a.here(func(s *settings.Settings) error {
		if name != "" {
			s = s.WithServer(name, one)
		}
		return guarded(s, func(g *guard.Guard) error {
			here, _ := servers.New(s, servers.Host{Guard: g, Notify: func(string) {}})
			defer here.Close()
			pool := mcp.New(mcp.Options{})
			if here != nil {
				pool = here.Pool
			}
			all, err := serversOf(s, pool)
			if err != nil {
				return err
			}
			return use(mcpCmd.Manager{Pool: pool, All: all, Logins: s.Logins})
		})
	})
}

// serversOf returns the configured servers, the user's own first.
func serversOf(s *settings.Settings, pool *mcp.Pool) (out []mcpCmd.ServerEntry, err error) {
	for _, name := range slices.Sorted(maps.Keys(s.Config.MCP.Servers)) {
		c := s.Config.MCP.Servers[name]
		l := mcpCmd.ServerEntry{Name: name, Source: s.File, URL: c.URL, Mine: true}
		if c.Command != "" {
			l.Command = trust.Item{Argv: append([]string{c.Command}, c.Args...)}.Command()
		}
		if c.Disabled {
			l.State = mcpCmd.Disabled
		} else {
			l.State, l.Reason = stateOf(pool, name)
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
			for n := range out {
				if i.ID == trust.Server+":"+out[n].Name+"@config" && out[n].State != mcpCmd.Disabled && i.State != trust.Allowed {
					out[n].State, out[n].Reason = mcpCmd.NeedsConsent, i.Definition+"; adze permission trust allow "+i.ID+" lets it in this folder"
				}
			}
			continue
		}
		l := mcpCmd.ServerEntry{Name: strings.TrimPrefix(i.ID, trust.Server+":"), State: mcpCmd.NeedsConsent, Source: i.Source, URL: i.URL, Reason: i.Problem}
		if i.URL == "" {
			l.Command = i.Command()
		}
		_, mine := s.Config.MCP.Servers[l.Name]
		switch {
		case i.Problem != "":
			l.State = mcpCmd.Broken
		case i.State == trust.Changed:
			l.Reason = "its entry changed since you agreed to it"
		case i.State != trust.Allowed:
		case mine || !slices.Contains(pool.Names(), l.Name):
			l.State, l.Reason = mcpCmd.Hidden, "it is switched off, or another server has its name"
		default:
			l.State, l.Reason = stateOf(pool, l.Name)
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
		return mcpCmd.NeedsLogin, last.Reason
	case last.State == mcp.Failed:
		return mcpCmd.Failed, last.Reason
	case pool.Catalogue(name) == nil:
		return mcpCmd.NeverStarted, ""
	}
	return mcpCmd.Ready, ""
}

// ServerChecks checks the MCP servers of this folder and of other assistants without starting any.
func (a *app) ServerChecks(ctx context.Context) (out []doctor.Check) {
	configured, others, fine := map[string]bool{}, []string(nil), 0
	err := a.MCP(ctx, func(d mcpCmd.Manager) error {
		for _, l := range d.All {
			configured[l.Name] = true
			c := doctor.Check{Name: "MCP server", State: doctor.Warn, Finding: l.Name + " " + l.State}
			if l.Reason != "" {
				c.Finding += ": " + l.Reason
			}
			switch l.State {
			case mcpCmd.Failed:
				c.Mend = "adze mcp test " + l.Name + " tries it again; adze mcp logs " + l.Name + " shows what it wrote"
			case mcpCmd.NeedsLogin:
				c.Mend = "adze mcp login " + l.Name
			case mcpCmd.Broken:
				c.Mend = "fix its entry in " + l.Source
			default:
				fine++
				continue
			}
			out = append(out, c)
		}
		return nil
	})
	if err != nil {
		return nil // configuration errors are reported by another check
	}
	if fine > 0 {
		out = append(out, doctor.Check{Name: "MCP servers", State: doctor.OK, Finding: plural.Of(fine, "server") + " without a failure that is known"})
	}
	dir, _ := a.CurrentFolder() // without it, servers for one folder are not found
	top, _ := discovery.Repository(dir)
	for _, f := range clients.Find(a.Getenv("HOME"), a.Getenv, top) {
		if f.Problem == "" && !configured[f.Name] {
			configured[f.Name] = true
			others = append(others, f.Name)
		}
	}
	if len(others) > 0 {
		out = append(out, doctor.Check{Name: "MCP servers", State: doctor.OK, Finding: fmt.Sprintf("%s in other assistants (%s); adze mcp import takes them over", plural.Of(len(others), "server"), strings.Join(others[:min(len(others), 5)], ", "))})
	}
	return out
}
