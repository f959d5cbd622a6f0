// Package servers is adze mcp: what has to do with the Model Context Protocol, one file for each of its commands.
//
// The one rule: a command takes flags and words apart; what it does is asked of the program.
//
// Start reading at Command.
//
// Known limits: none that are known. The tests run the whole program and stand in internal/app.
package servers

import (
	"github.com/spf13/cobra"

	"adze/internal/command"
)

// Program is what these commands ask of the program.
type Program interface {
	command.Program
	// ServeTools offers the tools of this folder until the client goes or a signal comes.
	ServeTools(Serve) error
}

type servers struct {
	*command.Env
	Program
}

// Command is adze mcp with its commands.
func Command(e *command.Env, p Program) *cobra.Command {
	s := servers{e, p}
	c := command.Group("mcp", "Offer adze's tools to other programs by the Model Context Protocol", s.serve())
	c.Long = "MCP is how assistants and editors use the tools of others."
	return c
}
