package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"adze/docs"
)

// topics returns the manual pages that are also commands: adze sandbox prints adze help sandbox.
// Other pages are shown by adze help only, since their names are close to a command's. Pages are
// read when printed.
func topics() []*cobra.Command {
	var out []*cobra.Command
	for _, name := range []string{"sandbox", "hooks", "lines"} {
		c := &cobra.Command{Use: name, Annotations: CallableByTools(), Short: "Show a page of the documentation", Hidden: true}
		c.SetHelpFunc(func(c *cobra.Command, _ []string) { fmt.Fprint(c.OutOrStdout(), docs.Text(name)) })
		out = append(out, c)
	}
	return out
}

func helpTopics(help *cobra.Command) {
	ofCommand := help.Run
	help.Args = func(c *cobra.Command, words []string) error {
		if len(words) == 1 && (words[0] == "keys" || docs.Text(words[0]) != "") {
			return nil
		}
		return knownTopic(c, words)
	}
	help.RunE = func(c *cobra.Command, words []string) error {
		switch {
		case len(words) == 1 && words[0] == "keys":
			keys, _, err := help.Root().Find(words)
			if err != nil {
				return err
			}
			return keys.RunE(keys, nil)
		case len(words) == 1 && docs.Text(words[0]) != "":
			fmt.Fprint(c.OutOrStdout(), docs.Text(words[0]))
		default:
			ofCommand(c, words)
		}
		return nil
	}
	root := help.Root()
	usual := root.UsageFunc() // shared by every command; a template would link text/template
	root.SetUsageFunc(func(c *cobra.Command) error {
		err := usual(c)
		if err == nil && !c.HasParent() {
			_, err = fmt.Fprintf(c.OutOrStderr(), "\nadze help TOPIC shows a page of the documentation: %s\n", strings.Join(docs.Topics(), " ")+" keys")
		}
		return err
	})
}
