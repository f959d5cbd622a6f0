package past

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"adze/internal/command"
	"adze/internal/safeterm"
	"adze/internal/store"
)

func (p past) verify() *cobra.Command {
	return &cobra.Command{Use: "verify ID", Short: "Walk a session's hash chain and name the first bad row", Args: command.Takes(1, 1),
		Example: "  adze session verify 20261121t0245",
		RunE:    func(c *cobra.Command, args []string) error { return p.verifySession(c.Context(), args[0]) }}
}

func (p past) verifySession(ctx context.Context, prefix string) error {
	return p.Store(ctx, func(s *store.Store) error {
		heads, err := s.List(ctx)
		if err != nil {
			return fmt.Errorf("%w: %w", store.ErrOpen, err)
		}
		id, err := p.Session(heads, prefix)
		if err != nil {
			return err
		}
		rows, err := s.Verify(ctx, id)
		var bad *store.BadRow
		if errors.As(err, &bad) {
			return &command.Damaged{Row: bad}
		}
		if err != nil {
			return fmt.Errorf("%w: %w", store.ErrOpen, err)
		}
		fmt.Fprintf(p.Stdout(), "%s: all %d rows are as they were written\n", safeterm.Name(string(id)), rows)
		return nil
	})
}
