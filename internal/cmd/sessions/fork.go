package sessions

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/lookup"
)

func forkCommand(p past) *cobra.Command {
	var turn int
	var lines bool
	c := &cobra.Command{Use: "fork ID", Annotations: cmd.CallableByTools(), Short: "Copy a session, to go on from one of its turns", Args: cmd.RangeArgs(1, 1), ValidArgsFunction: p.ids,
		Example: "  adze sessions fork 20261121t0245\n  adze sessions fork 20261121t0245 --at 3   # as it was when turn 3 had ended; adze sessions show numbers them\n  adze --resume $(adze sessions fork 20261121t0245 --at 3)",
		RunE: func(c *cobra.Command, words []string) error {
			return p.forkSession(c.Context(), words[0], turn, lines)
		}}
	c.Flags().IntVar(&turn, "at", 0, "up to the end of the turn with this `NUMBER`; default: all of it")
	c.Flags().BoolVar(&lines, "json", false, "print one JSON object")
	return c
}

func (p past) forkSession(ctx context.Context, prefix string, turn int, lines bool) error {
	return p.Change(ctx, func(s *sessiondb.Store) error {
		head, err := p.one(ctx, s, prefix)
		if err != nil {
			return err
		}
		id, err := lookup.Fork(ctx, s, head.ID, turn)
		if err != nil {
			return cmd.Readable(err)
		}
		if !lines {
			_, err := fmt.Fprintln(p.Out, id)
			return err
		}
		heads, _, err := s.Page(ctx, sessiondb.Filter{All: true, Prefix: string(id), Limit: 1})
		if err != nil || len(heads) == 0 {
			return cmd.Readable(err)
		}
		return p.WriteJSON(lineOf(heads[0]))
	})
}
