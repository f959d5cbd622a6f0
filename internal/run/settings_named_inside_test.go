package run

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"adze/internal/run/process"
)

// CommandFlags returns the flags of each command that does something, by its path, for tests that
// run the program.
func CommandFlags() map[string][]string {
	a := &app{&process.Process{}}
	a.Getenv = func(string) string { return "" }
	out := map[string][]string{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Runnable() {
			names := []string{}
			add := func(f *pflag.Flag) { names = append(names, f.Name) }
			c.Flags().VisitAll(add)
			c.InheritedFlags().VisitAll(add)
			out[pathOf(c)] = names
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(commandLine(a))
	return out
}
