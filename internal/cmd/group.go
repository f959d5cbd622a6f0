package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/text/usage"
	"adze/tool"
)

// Group returns a command that only holds others. An unknown word is an error that names the
// nearest command.
func Group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Annotations: CallableByTools(), Short: short, Args: cobra.ArbitraryArgs, RunE: runGroup}
	return WithSubcommands(c, commands...)
}

// WithSubcommands adds commands to c.
func WithSubcommands(c *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	c.SetFlagErrorFunc(FlagError)
	for _, sub := range commands {
		sub.SetFlagErrorFunc(FlagError)
	}
	c.AddCommand(commands...)
	return c
}

// HideOldNames hides moved commands' old names, which still work for one release.
func HideOldNames(commands ...*cobra.Command) []*cobra.Command {
	for _, c := range commands {
		c.Hidden = true
	}
	return commands
}

// runGroup prints a group's help, or fails for an unknown word.
func runGroup(c *cobra.Command, words []string) error {
	if len(words) == 0 {
		return c.Help()
	}
	return UnknownCommand(c, words[0])
}

// UnknownCommand returns an error for an unknown word below c, with the nearest command.
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

// RangeArgs checks the number of arguments. A negative most means any number.
func RangeArgs(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, words []string) error {
		if len(words) < least || most >= 0 && len(words) > most {
			return usage.Mistake(c.CommandPath()+" --help shows examples", "write it as %s", c.UseLine())
		}
		return nil
	}
}

// Flagged reports whether a flag was set.
func Flagged(c *cobra.Command, name string) bool {
	on, _ := c.Flags().GetBool(name)
	return on
}
