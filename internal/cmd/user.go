package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"adze/internal/config/paths"
	"adze/internal/sandbox/proc"
	"adze/internal/text/usage"
)

// anyone is the annotation of commands that may run inside a tool call.
const anyone = "anyone"

// CallableByTools returns the annotation of a command that may run inside a tool call: it changes
// neither permissions (rules, consents, servers, keys) nor stored data (sessions, file states).
// Other commands are reserved for the user.
func CallableByTools() map[string]string { return map[string]string{anyone: "true"} }

// Free reports whether a command may run inside a tool call. So may completion, which only prints,
// and a run, whose interface calls ByUser before it stores anything.
func Free(c *cobra.Command) bool {
	return c.Annotations[anyone] != "" || !c.HasParent() || c.Name() == cobra.ShellCompRequestCmd || c.Name() == cobra.ShellCompNoDescRequestCmd
}

// ByUser returns an error if this process was started by a tool call, in any mode or sandbox level.
// what names the refused change.
func ByUser(at paths.Places, what string) error {
	why := proc.NewLedger(at.Jobs()).Inside()
	if why == "" {
		return nil
	}
	return usage.Mistake("the user does it in a terminal of their own; after a crash of adze, start adze once first",
		"%s is the user's alone, and this process was started by a call of adze: %s", what, why)
}

const bindKeys = `Bind others in the configuration: "keys": {"todos": "f8", "quit": ["ctrl+q", "f10"]}`

// keysCommand lists the actions and their key bindings.
func (a *all) keysCommand() *cobra.Command {
	c := &cobra.Command{Use: "keys", Annotations: CallableByTools(), Short: "List the actions of the interface and their keys", Args: RangeArgs(0, 0), Example: "  adze help keys | grep todos"}
	c.Long = c.Short + ".\n\n" + bindKeys
	c.RunE = func(*cobra.Command, []string) error {
		cfg, _, err := a.Config()
		if err != nil {
			return err
		}
		rows, warnings := a.KeyTable(cfg.BoundKeys())
		t := a.Columns()
		for _, r := range rows {
			fmt.Fprintf(t, "%s\t%s\t%s\n", r[0], r[1], r[2])
		}
		if err := t.Flush(); err != nil {
			return err
		}
		a.Show("\n%s\n", bindKeys)
		for _, w := range warnings {
			a.Show("%s: %s\n", a.ConfigFile(), w)
		}
		return nil
	}
	return c
}
