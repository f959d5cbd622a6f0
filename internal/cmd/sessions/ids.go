package sessions

import (
	"slices"

	"github.com/spf13/cobra"

	"adze/internal/sessiondb"
	"adze/internal/text/safeterm"
)

// mostIDs bounds what a shell is offered.
const mostIDs = 200

// ids completes the first word of a command: the ids of sessions, the newest first, with their
// titles.
func (p past) ids(c *cobra.Command, words []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(words) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.moreIDs(c, words, begun)
}

// moreIDs completes every word of a command in the same way.
func (p past) moreIDs(c *cobra.Command, words []string, begun string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	_ = p.Store(c.Context(), func(s *sessiondb.Store) error { // a shell has nobody to tell
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
