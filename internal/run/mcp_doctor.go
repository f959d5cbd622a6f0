package run

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/cmd/doctor"
	"adze/internal/cmd/mcp"
	"adze/internal/mcp/clients"
	"adze/internal/text/plural"
)

// ServerChecks checks the MCP servers of this folder and of other assistants without starting any.
func (a *app) ServerChecks(ctx context.Context) (out []doctor.Check) {
	configured, fine := map[string]bool{}, 0
	err := a.MCP(ctx, func(d mcp.Manager) error {
		for _, l := range d.All {
			configured[l.Name] = true
			c := doctor.Check{Name: "MCP server", State: doctor.Warn, Found: l.Name + " " + l.State}
			if l.Why != "" {
				c.Found += ": " + l.Why
			}
			switch l.State {
			case mcp.Failed:
				c.Mend = "adze mcp test " + l.Name + " tries it again; adze mcp logs " + l.Name + " shows what it wrote"
			case mcp.NeedsLogin:
				c.Mend = "adze mcp login " + l.Name
			case mcp.Broken:
				c.Mend = "fix its entry in " + l.From
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
		out = append(out, doctor.Check{Name: "MCP servers", State: doctor.OK, Found: plural.Of(fine, "server") + " without a failure that is known"})
	}
	dir, _ := a.Here() // without it, servers for one folder are not found
	var others []string
	for _, f := range clients.Find(a.Getenv("HOME"), a.Getenv, dir) {
		if f.Problem == "" && !configured[f.Name] {
			configured[f.Name] = true
			others = append(others, f.Name)
		}
	}
	if len(others) > 0 {
		out = append(out, doctor.Check{Name: "MCP servers", State: doctor.OK, Found: fmt.Sprintf("%s in other assistants (%s); adze mcp import takes them over", plural.Of(len(others), "server"), strings.Join(others[:min(len(others), 5)], ", "))})
	}
	return out
}
