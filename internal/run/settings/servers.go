package settings

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/internal/config/keyring"
	"adze/internal/llm/models"
	"adze/internal/mcp"
	"adze/internal/mcp/oauth"
	"adze/internal/project/trust"
	"adze/internal/sandbox/proc"
)

// variables returns the variables allowed in servers' settings.
func (s *Settings) variables() mcp.Variables {
	return mcp.Variables{Getenv: os.Getenv, Keys: models.KeyNames(s.Config), Dir: s.Root.Dir(), Home: s.Home}
}

// OwnServers returns the servers in the user's configuration, by name.
func (s *Settings) OwnServers() (out []mcp.Server) {
	for _, name := range slices.Sorted(maps.Keys(s.Config.MCP.Servers)) {
		c := s.Config.MCP.Servers[name]
		if c.Disabled {
			continue
		}
		one := mcp.Server{Name: name, Env: c.Env, Dir: c.Cwd, URL: c.URL, SSE: mcp.UsesSSE(c.Type, c.URL), Headers: c.Headers, OAuth: c.OAuth, Tools: c.Tools, Start: time.Duration(c.Start), Call: time.Duration(c.Call), Unsandboxed: c.Unsandboxed, SkipPinning: c.Pin == "off"}
		if c.Command != "" {
			one.Command = append([]string{c.Command}, c.Args...)
		}
		out = append(out, one.Expand(s.variables()))
	}
	return out
}

// ProjectServers adds the project's servers that the user allowed, with their approval. A name that
// is taken keeps its server. They start in the workspace, as shown to the user.
func (s *Settings) ProjectServers(own []mcp.Server, holds map[string]trust.Item) []mcp.Server {
	items, _ := s.Survey() // tellProject reports errors in the trust file
	for _, i := range items {
		if i.Kind != trust.Server || i.State != trust.Allowed || i.Mine {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(i.ID, trust.Server+":"), "@")
		one, off, err := mcp.Read(name, i.Raw)
		taken := slices.ContainsFunc(own, func(s mcp.Server) bool { return s.Name == name })
		if _, mine := s.Config.MCP.Servers[name]; off || taken || mine || !mcp.ValidName(name) {
			continue
		}
		one.Err, one.Source, one.Dir = err, i.Path, cmp.Or(one.Dir, s.Root.Dir())
		own, holds[name] = append(own, one.Expand(s.variables())), i
	}
	return own
}

// loginsIn returns the login manager for MCP servers. It accesses the key ring only on demand.
func (s *Settings) loginsIn(workspace string) oauth.Manager {
	return oauth.Manager{
		Store: oauth.Store{File: filepath.Join(s.Places.State, "logins.json"), Ring: keyring.OfSystem(s.Getenv, nil)},
		Open:  oauth.Browser(s.Getenv, func(program string) (string, []string, error) { return proc.Helper(program, workspace) }), Hide: s.Ring.Hide,
	}
}
