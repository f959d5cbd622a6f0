package cmd

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"adze/docs"
)

// topics are the pages of the documentation, as adze help TOPIC shows them. They run nothing, and a
// page is read when it is shown.
func topics() []*cobra.Command {
	var out []*cobra.Command
	for _, p := range docs.Topics() {
		c := &cobra.Command{Use: p.Name, Short: p.Title}
		c.SetHelpFunc(func(c *cobra.Command, _ []string) { fmt.Fprint(c.OutOrStdout(), docs.Text(p.Name)) })
		out = append(out, c)
	}
	return out
}

// isTopic reports whether a word is a page.
func isTopic(word string) bool {
	return slices.ContainsFunc(docs.Topics(), func(p docs.Topic) bool { return p.Name == word })
}

// SandboxInShort says in plain words how commands run in a full sandbox: on one screen, before the
// user chooses.
func SandboxInShort() string { return docs.Section("sandbox", "In short") }
