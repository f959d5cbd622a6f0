package sessions

import (
	"slices"

	"github.com/spf13/cobra"

	"adze/internal/sessiondb"
	"adze/internal/text/safeterm"
)

const mostIDs = 200

// ids completes a command's first argument with session ids, newest first, and their titles.
func (p past) ids(c *cobra.Command, words []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(words) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.moreIDs(c, words, begun)
}

// moreIDs completes every argument.
func (p past) moreIDs(c *cobra.Command, words []string, begun string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	_ = p.Store(c.Context(), func(s *sessiondb.Store) error { // completion cannot report errors
		heads, _, err := s.Page(c.Context(), sessiondb.Filter{All: begun != "", Prefix: begun, Limit: mostIDs})
		for _, h := range heads {
			if !slices.Contains(words, string(h.ID)) {
				found = append(found, cobra.CompletionWithDesc(string(h.ID), p.Mask().Text(safeterm.Name(h.Title()).String())))
			}
		}
		return err
	})
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
