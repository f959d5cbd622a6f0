package cmd

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"adze/internal/text/usage"
	"adze/tool"
)

// Strict turns mistakes that cobra accepts into errors: help for an unknown command, completion for
// an unknown shell, an empty flag value, and a command reserved for the user (see Free) that runs
// inside a tool call, which byUser detects. Call it after adding all commands to root.
func Strict(root *cobra.Command, byUser func(what string) error) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Annotations = CallableByTools()
			helpTopics(c)
		case "completion":
			c.Annotations, c.Args, c.RunE = CallableByTools(), cobra.ArbitraryArgs, runGroup
			for _, shell := range c.Commands() {
				shell.Annotations, shell.Args, shell.Example = CallableByTools(), RangeArgs(0, 0), "  "+shell.CommandPath()
			}
		}
	}
	root.PersistentPreRunE = func(c *cobra.Command, words []string) error {
		if c.HasParent() && len(words) > 0 && words[0] == "" { // "" would otherwise select the newest session
			return usage.Mistake(c.CommandPath()+" --help shows examples", "the first word after %s is empty", c.CommandPath())
		}
		if err := noEmptyValue(c); err != nil {
			return err
		}
		if Free(c) || AsksVersion(c) {
			return nil
		}
		return byUser(c.CommandPath())
	}
}

// knownTopic returns an error for help about an unknown command, with the nearest one.
func knownTopic(help *cobra.Command, words []string) error {
	c, rest, err := help.Root().Find(words)
	if err == nil && len(rest) == 0 {
		return nil
	}
	if c == nil {
		c, rest = help.Root(), words
	}
	word := rest[0]
	var names []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	hint := c.CommandPath() + " --help lists the commands"
	if near := tool.Nearest(word, names, 1); len(near) == 1 {
		hint = "did you mean adze help" + c.CommandPath()[len(c.Root().Name()):] + " " + near[0] + "?"
	}
	return usage.Mistake(hint, "%s has no command %q", c.CommandPath(), word)
}

// noEmptyValue rejects an empty flag value, such as from an unset variable of a script: --resume ""
// would begin a new session. A list may be empty: --tools "" offers none.
func noEmptyValue(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		empty := false
		switch v := f.Value.(type) {
		case pflag.SliceValue:
			if f.Value.Type() == "stringArray" {
				for _, one := range v.GetSlice() {
					empty = empty || one == ""
				}
			}
		default:
			empty = v.Type() == "string" && v.String() == ""
		}
		if empty && err == nil {
			err = usage.Mistake("leave the flag out, or give it a value", "--%s is empty", f.Name)
		}
	})
	return err
}
