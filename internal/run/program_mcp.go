package run

import (
	"context"

	mcpCmd "adze/internal/cmd/mcp"
	"adze/internal/config"
	"adze/internal/mcp"
	"adze/internal/run/guard"
	"adze/internal/run/servers"
)

// MCP passes this folder's servers to use.
func (a *app) MCP(ctx context.Context, use func(mcpCmd.Manager) error) error {
	return a.TryMCP(ctx, "", config.MCPServer{}, use)
}

// TryMCP is like MCP with an additional server that is not configured yet.
func (a *app) TryMCP(ctx context.Context, name string, one config.MCPServer, use func(mcpCmd.Manager) error) error {
	s, err := a.read(nil)
	if err != nil {
		return err
	}
	defer s.Close()
	if name != "" {
		s = s.WithServer(name, one)
	}
	g, err := guard.New(s, guard.Wish{Spill: s.At.Spill})
	if err != nil {
		return err
	}
	defer g.Close()
	here, _ := servers.New(s, servers.Host{Guard: g, Tell: func(string) {}})
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
}
