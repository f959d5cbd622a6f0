package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"adze/internal/config/paths"
	"adze/internal/sandbox/proc"
	"adze/internal/text/usage"
)

// anyone is the annotation of a command that runs below a call of adze, too.
const anyone = "anyone"

// Anyone is the annotation of a command that may run below a call of adze, because it changes
// neither what adze may do (rules, consents, servers, keys) nor what it keeps (stored sessions,
// states of files). A command without it is the user's alone.
func Anyone() map[string]string { return map[string]string{anyone: "true"} }

// Free reports whether a command may run below a call of adze. A run may, whose interface asks
// ByUser before it keeps anything, and so may completion, which only prints.
func Free(c *cobra.Command) bool {
	return c.Annotations[anyone] != "" || !c.HasParent() || c.Name() == cobra.ShellCompRequestCmd || c.Name() == cobra.ShellCompNoDescRequestCmd
}

// ByUser returns an error where this process was started by a call of adze, at any level of the
// sandbox and in any mode. what names the change that is refused.
func ByUser(at paths.Places, what string) error {
	why := proc.NewLedger(at.Jobs()).Inside()
	if why == "" {
		return nil
	}
	return usage.Mistake("the user does it in a terminal of their own; after a crash of adze, start adze once first",
		"%s is the user's alone, and this process was started by a call of adze: %s", what, why)
}

// bindKeys says how a key is bound.
const bindKeys = `Bind others in the configuration: "keys": {"todos": "f8", "quit": ["ctrl+q", "f10"]}`

// keysCommand lists what keys can be bound to, and what they are now.
func (a *all) keysCommand() *cobra.Command {
	c := &cobra.Command{Use: "keys", Annotations: Anyone(), Short: "List the actions of the interface and their keys", Args: Takes(0, 0), Example: "  adze help keys | grep todos"}
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
