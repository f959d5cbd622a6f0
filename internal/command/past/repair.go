package past

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/command"
	"adze/internal/mend"
	"adze/internal/safeterm"
	"adze/internal/store"
	"adze/session"
)

func (p past) repair() *cobra.Command {
	c := &cobra.Command{Use: "repair ID", Short: "Make a sound copy of a damaged session", Args: command.Takes(1, 1),
		Long: `What is as it was written is copied into a new session: rows that were moved go back to their place, those that were changed are
left out, a call without an outcome gets "outcome unknown", and the model is told where something is missing. The old session
stays as it is. A database that cannot be read is salvaged first; its file is kept.`,
		Example: "  adze session repair 20261121t0245\n  adze session repair 20261121t0245 --json | jq -r .repaired",
		RunE: func(c *cobra.Command, words []string) error {
			return p.repairSession(c.Context(), words[0], command.Flagged(c, "json"))
		}}
	c.Flags().Bool("json", false, "one JSON object a line")
	return c
}

func (p past) repairSession(ctx context.Context, prefix string, lines bool) error {
	var report mend.Report
	mended := func(s *store.Store) (err error) {
		report, err = p.mend(ctx, s, prefix)
		return err
	}
	err := p.Change(ctx, mended)
	if errors.Is(err, store.ErrDamaged) { // what met it left a mark: opening it again salvages the file
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

func (p past) mend(ctx context.Context, s *store.Store, prefix string) (mend.Report, error) {
	heads, err := s.List(ctx)
	if err != nil {
		return mend.Report{}, fmt.Errorf("%w: %w", store.ErrOpen, err)
	}
	id, err := p.Session(heads, prefix)
	if err != nil {
		return mend.Report{}, err
	}
	if err := s.Lock(ctx, id); err != nil {
		return mend.Report{}, err
	}
	r, err := mend.Repair(ctx, s, id, time.Now())
	if err != nil {
		return r, command.Readable(err)
	}
	return r, p.keepLabels(ctx, s, id, r.Repaired)
}

// keepLabels gives the copy the name and the tags of the session.
func (p past) keepLabels(ctx context.Context, s *store.Store, from, to session.ID) error {
	if to == "" {
		return nil
	}
	labels, err := store.Owner{Store: s}.Labels(ctx, from)
	if err == nil && len(labels) > 0 {
		err = store.Owner{Store: s}.Label(ctx, to, labels...)
	}
	return command.Readable(err)
}

func (p past) tellRepair(r mend.Report) {
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
