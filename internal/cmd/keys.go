package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
)

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
