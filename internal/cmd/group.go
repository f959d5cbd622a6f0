package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/text/usage"
	"adze/tool"
)

// Group is a command that only holds others. A word that is none of them is a mistake, with the
// nearest one.
func Group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Annotations: Anyone(), Short: short, Args: cobra.ArbitraryArgs, RunE: runGroup}
	return With(c, commands...)
}

// With puts commands below c.
func With(c *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	c.SetFlagErrorFunc(FlagError)
	for _, sub := range commands {
		sub.SetFlagErrorFunc(FlagError)
	}
	c.AddCommand(commands...)
	return c
}

// Former hides commands that stand elsewhere now. Their former names answer for one release.
func Former(commands ...*cobra.Command) []*cobra.Command {
	for _, c := range commands {
		c.Hidden = true
	}
	return commands
}

// runGroup shows the help of a command that only holds others. A word that names none of them is a
// mistake.
func runGroup(c *cobra.Command, words []string) error {
	if len(words) == 0 {
		return c.Help()
	}
	return UnknownCommand(c, words[0])
}

// UnknownCommand says that no command below c has the name word, and names the nearest one.
func UnknownCommand(c *cobra.Command, word string) error {
	var names []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	hint := "the commands are: " + strings.Join(names, ", ")
	if near := tool.Nearest(word, names, 1); len(near) == 1 {
		hint = fmt.Sprintf("did you mean %s %s?", c.CommandPath(), near[0])
	}
	return usage.Mistake(hint, "%s has no command %q", c.CommandPath(), word)
}

// Takes checks how many words follow a command; most < 0: any number.
func Takes(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, words []string) error {
		if len(words) < least || most >= 0 && len(words) > most {
			return usage.Mistake(c.CommandPath()+" --help shows examples", "write it as %s", c.UseLine())
		}
		return nil
	}
}

// Flagged reports whether a flag of a command was given.
func Flagged(c *cobra.Command, name string) bool {
	on, _ := c.Flags().GetBool(name)
	return on
}
