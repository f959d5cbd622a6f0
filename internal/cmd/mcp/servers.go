// Package mcp implements adze mcp: the MCP servers whose tools a run may use.
//
// The one rule: listing starts and connects to nothing; a server's texts are shown cleaned, and
// only an explicit command approves them.
//
// Start reading at Command. login.go logs in, add.go and import.go write the user's configuration,
// look.go lists, tests and approves servers, get.go shows and switches one, logs.go prints its log;
// serve.go is an MCP server itself. Package mcp in internal/mcp holds the connections.
//
// Known limits: none. The tests run the whole program and are in internal/cmd.
package mcp

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/config"
	"adze/internal/mcp"
	"adze/internal/mcp/oauth"
	"adze/internal/text/usage"
)

// Program is the interface to the program that these commands use.
type Program interface {
	cmd.ConfigProgram
	CurrentFolder() (string, error) // the current folder as sessions store it
	// MCP calls its function with this folder's servers, none of them started.
	MCP(context.Context, func(Manager) error) error
	// TryMCP is like MCP with one more server, which is not configured yet.
	TryMCP(ctx context.Context, name string, one config.MCPServer, use func(Manager) error) error
	// ServeTools offers this folder's tools until the client disconnects or a signal arrives.
	ServeTools(Serve) error
}

// A Manager holds a folder's servers.
type Manager struct {
	Pool   *mcp.Pool
	All    []ServerEntry
	Logins oauth.Manager
}

// States of a server that are known without starting it.
const (
	Ready        = "ready"         // tools are known; a call starts it
	Failed       = "failed"        // last start failed
	NeverStarted = "never started" // tools are unknown
	NeedsLogin   = "needs login"
	NeedsConsent = "needs consent" // from a project
	Disabled     = "disabled"
	Hidden       = "hidden" // another server has its name
	Broken       = "broken" // invalid entry
)

// ServerEntry is a configured server, usable or not.
type ServerEntry struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Source  string `json:"from"` // file that names it
	Command string `json:"command,omitempty"`
	URL     string `json:"url,omitempty"`
	Reason  string `json:"why,omitempty"`
	Mine    bool   `json:"mine"` // from the user's configuration
}

type servers struct {
	*cmd.Env
	Program
}

// Command returns adze mcp with its commands.
func Command(e *cmd.Env, p Program) *cobra.Command {
	s := servers{e, p}
	c := cmd.Group("mcp", "Manage MCP servers, and serve adze as one", s.add(), s.importing(), s.list(), s.get(), s.test(), s.logs(), s.accept(),
		s.switching("enable", "Switch a server of your configuration on", false),
		s.switching("disable", "Switch a server of your configuration off, and keep its entry", true),
		s.login(), s.logout(), s.remove(), s.serve())
	for _, sub := range c.Commands() {
		if sub.Name() != "serve" {
			sub.Flags().Bool("json", false, "print one JSON object per line")
		}
		if strings.HasSuffix(sub.Use, " NAME") {
			sub.Args, sub.ValidArgsFunction = cmd.RangeArgs(1, 1), s.names
		}
	}
	c.Long = "An MCP server is a program that adze starts, or an address that it dials, for the tools that it offers. Those of your own\n" +
		"configuration may be used; those of a project wait for adze permission trust allow. A tool is called server_tool, and the rules for\n" +
		"it are execute(mcp:SERVER TOOL), with * within the tool's name, and execute(mcp:SERVER **). adze mcp serve offers adze's own tools to others."
	return c
}

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

// usable returns an error if no usable server has the name.
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
