// Package mcp is adze mcp: the servers of the Model Context Protocol whose tools a run may use.
//
// The one rule: listing starts nothing and dials nothing; what a server says is shown cleaned, and
// agreed to only by a command that says so.
//
// Start reading at Command. login.go logs in, add.go and import.go write the user's configuration,
// look.go lists, tries and agrees, get.go shows one and switches it, logs.go shows what it wrote;
// serve.go is the other way round. What a server is and how it is talked with is in package mcp.
//
// Known limits: none that are known. The tests run the whole program and stand in internal/cmd.
package mcp

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/config"
	"adze/internal/mcp"
	"adze/internal/mcp/oauth"
	"adze/internal/text/usage"
)

// Program is what these commands ask of the program.
type Program interface {
	cmd.ConfigProgram
	Here() (string, error) // this folder as sessions remember it
	// MCP hands over the servers of this folder; nothing of them runs before it is asked for.
	MCP(context.Context, func(Manager) error) error
	// TryMCP does so with one more server, which stands in no file yet.
	TryMCP(ctx context.Context, name string, one config.MCPServer, use func(Manager) error) error
	// ServeTools offers the tools of this folder until the client goes or a signal comes.
	ServeTools(Serve) error
}

// Manager are the servers of a folder.
type Manager struct {
	Pool   *mcp.Pool
	All    []ServerEntry
	Logins oauth.Manager
}

// The states of a server, as far as they are known without starting it.
const (
	Ready        = "ready"         // its tools are known; a call starts it
	Failed       = "failed"        // its last start failed
	NeverStarted = "never started" // nobody knows its tools
	NeedsLogin   = "needs login"
	NeedsConsent = "needs consent" // it is of a project
	Disabled     = "disabled"
	Hidden       = "hidden" // another server has its name
	Broken       = "broken" // its entry cannot be read
)

// ServerEntry is a server that somebody named, whether it may be used or not.
type ServerEntry struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	From    string `json:"from"` // the file that names it
	Command string `json:"command,omitempty"`
	URL     string `json:"url,omitempty"`
	Why     string `json:"why,omitempty"`
	Mine    bool   `json:"mine"` // it stands in the user's configuration
}

type servers struct {
	*cmd.Env
	Program
}

// Command is adze mcp with its commands.
func Command(e *cmd.Env, p Program) *cobra.Command {
	s := servers{e, p}
	c := cmd.Group("mcp", "Manage MCP servers, and serve adze as one", s.add(), s.importing(), s.list(), s.get(), s.test(), s.logs(), s.accept(),
		s.switching("enable", "Switch a server of your configuration on", false),
		s.switching("disable", "Switch a server of your configuration off, and keep its entry", true),
		s.login(), s.logout(), s.remove(), s.serve())
	c.Long = "An MCP server is a program that adze starts, or an address that it dials, for the tools that it offers. Those of your own\n" +
		"configuration may be used; those of a project wait for adze permission trust allow. A tool is called server_tool, and the rules for\n" +
		"it are execute(mcp:SERVER TOOL), with * within the tool's name, and execute(mcp:SERVER **). adze mcp serve offers adze's own tools to others."
	return c
}

// names completes the names of servers.
func (s servers) names(c *cobra.Command, words []string, _ string) (out []string, _ cobra.ShellCompDirective) {
	if len(words) == 0 {
		_ = s.MCP(c.Context(), func(d Manager) error {
			for _, l := range d.All {
				out = append(out, l.Name+"\t"+l.State)
			}
			return nil
		})
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// usable finds a server that may be used, or says why there is none.
func (d Manager) usable(name string) error {
	if slices.Contains(d.Pool.Names(), name) {
		return nil
	}
	for _, l := range d.All {
		if l.Name == name {
			hint := "adze permission trust show server:" + name + " shows it, adze permission trust allow server:" + name + " allows it"
			if l.Mine {
				hint = "adze mcp enable " + name + " switches it on"
			}
			return usage.Mistake(hint, "the server %s is %s", name, l.State)
		}
	}
	return usage.Mistake("adze mcp list shows them, adze mcp add NAME -- COMMAND adds one", "there is no MCP server %q", name)
}
