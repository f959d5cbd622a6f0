package past

import (
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/safeterm"
	"adze/internal/store"
)

// ids completes the first word of a command: the ids of sessions, the newest first, with their titles.
func (p past) ids(c *cobra.Command, words []string, begun string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(words) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	_ = p.Store(c.Context(), func(s *store.Store) error { // a shell has nobody to tell
		heads, err := s.List(c.Context())
		for _, h := range heads {
			if strings.HasPrefix(string(h.ID), begun) {
				found = append(found, cobra.CompletionWithDesc(string(h.ID), p.Mask().Text(safeterm.Name(h.Title()).String())))
			}
		}
		return err
	})
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
