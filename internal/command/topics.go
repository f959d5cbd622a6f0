package command

import (
	"github.com/spf13/cobra"

	"adze/docs"
)

// topics are the pages of the documentation, as adze help TOPIC shows them. They run nothing.
func topics() []*cobra.Command {
	var out []*cobra.Command
	for _, p := range docs.Pages() {
		out = append(out, &cobra.Command{Use: p.Topic, Short: p.Title, Long: p.Title + "\n\n" + p.Text})
	}
	return out
}

// isTopic reports whether a word is a page.
func isTopic(word string) bool {
	for _, p := range docs.Pages() {
		if p.Topic == word {
			return true
		}
	}
	return false
}

// SandboxInShort says in plain words how commands run in a full sandbox: on one screen, before the
// user chooses.
func SandboxInShort() string { return docs.Section("sandbox", "In short") }
