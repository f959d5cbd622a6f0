package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/repair"
	"adze/internal/text/safeterm"
	"adze/session"
)

func (p past) repair() *cobra.Command {
	c := &cobra.Command{Use: "repair ID", Short: "Make a sound copy of a damaged session", Args: cmd.Takes(1, 1),
		Long: `What is as it was written is copied into a new session: rows that were moved go back to their place, those that were changed are
left out, a call without an outcome gets "outcome unknown", and the model is told where something is missing. The old session
stays as it is. A database that cannot be read is salvaged first; its file is kept.`,
		Example: "  adze sessions repair 20261121t0245\n  adze sessions repair 20261121t0245 --json | jq -r .repaired",
		RunE: func(c *cobra.Command, words []string) error {
			return p.repairSession(c.Context(), words[0], cmd.Flagged(c, "json"))
		}}
	c.Flags().Bool("json", false, "print one JSON object per line")
	return c
}

func (p past) repairSession(ctx context.Context, prefix string, lines bool) error {
	var report repair.Report
	mended := func(s *sessiondb.Store) (err error) {
		report, err = p.mend(ctx, s, prefix)
		return err
	}
	err := p.Change(ctx, mended)
	if errors.Is(err, sessiondb.ErrDamaged) { // what met it left a mark: opening it again salvages the file
		err = p.Change(ctx, mended)
	}
	if err != nil {
		return err
	}
	if lines {
		return p.WriteJSON(report)
	}
	p.tellRepair(report)
	return nil
}

func (p past) mend(ctx context.Context, s *sessiondb.Store, prefix string) (repair.Report, error) {
	heads, err := s.List(ctx)
	if err != nil {
		return repair.Report{}, fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	id, err := p.Session(heads, prefix)
	if err != nil {
		return repair.Report{}, err
	}
	if err := s.Lock(ctx, id); err != nil {
		return repair.Report{}, err
	}
	r, err := repair.Repair(ctx, s, id, time.Now())
	if err != nil {
		return r, cmd.Readable(err)
	}
	return r, p.keepLabels(ctx, s, id, r.Repaired)
}

// keepLabels gives the copy the name and the tags of the session.
func (p past) keepLabels(ctx context.Context, s *sessiondb.Store, from, to session.ID) error {
	if to == "" {
		return nil
	}
	labels, err := sessiondb.Owner{Store: s}.Labels(ctx, from)
	if err == nil && len(labels) > 0 {
		err = sessiondb.Owner{Store: s}.Label(ctx, to, labels...)
	}
	return cmd.Readable(err)
}

func (p past) tellRepair(r repair.Report) {
	id := safeterm.Name(string(r.Session))
	if r.Repaired == "" {
		p.Show("%s: all %d entries are as they were written; there is nothing to repair\n", id, r.Kept)
		return
	}
	p.Show("%s is repaired as %s: %d of its entries are kept\n", id, r.Repaired, r.Kept)
	for _, f := range r.Findings {
		p.Show("  %-9s %s\n", f.Kind, f)
	}
	p.Show("adze --resume %s goes on from there; the old one is as it was\n", r.Repaired)
}
