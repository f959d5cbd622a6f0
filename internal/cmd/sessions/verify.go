package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/repair"
	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/session"
)

func (p past) verify() *cobra.Command {
	c := &cobra.Command{Use: "verify ID", Annotations: cmd.Anyone(), Short: "Walk a session's hash chain and name the first bad row; --all: of every session", Args: cmd.Takes(0, 1),
		Long: `Every entry is compared with its hash, with the one before it, and with what its type says. What is wrong is named, with exit
code 10; adze sessions repair makes a sound copy of what is left.`,
		Example: "  adze sessions verify 20261121t0245\n  adze sessions verify --all --json | jq -r 'select(.sound == false).session'",
		RunE: func(c *cobra.Command, words []string) error {
			all := cmd.Flagged(c, "all")
			if all != (len(words) == 0) {
				return usage.Mistake("adze sessions list shows the ids", "name one session, or --all")
			}
			v := verifier{p, cmd.Flagged(c, "json")}
			return p.Store(c.Context(), func(s *sessiondb.Store) error {
				if all {
					return v.everyOne(c.Context(), s)
				}
				return v.one(c.Context(), s, words[0])
			})
		}}
	c.Flags().Bool("all", false, "every session, and a summary")
	c.Flags().Bool("json", false, "print one JSON object per line")
	return c
}

// verifier tells what is wrong with sessions.
type verifier struct {
	past
	lines bool // of JSON
}

// verdict is one session as session verify --json tells it.
type verdict struct {
	Session  session.ID       `json:"session"`
	Entries  int              `json:"entries"` // that are as they were written
	Sound    bool             `json:"sound"`
	Findings []repair.Finding `json:"findings,omitempty"`
}

// summary is the last line of session verify --all --json.
type summary struct {
	Sessions int `json:"sessions"`
	Unsound  int `json:"unsound"`
}

// look examines one session; a page of the database that cannot be read is a finding, too.
func (v verifier) look(ctx context.Context, s *sessiondb.Store, id session.ID) (verdict, error) {
	log, err := s.Raw(ctx, id)
	if err != nil && !errors.Is(err, sessiondb.ErrDamaged) {
		return verdict{}, cmd.Readable(err)
	}
	r := repair.Examine(log)
	if err != nil {
		r.Findings = append([]repair.Finding{{Kind: repair.Missing, Seq: int64(len(log.Rows)) + 1, Text: "it cannot be read: " + err.Error()}}, r.Findings...)
	}
	return verdict{id, r.Kept, r.Sound(), r.Findings}, nil
}

// bad is the first row that is not sound.
func (d verdict) bad() *sessiondb.BadRow {
	if first, any := (repair.Report{Findings: d.Findings}).First(); any {
		return &sessiondb.BadRow{Session: d.Session, Seq: first.Seq, Why: first.Why()}
	}
	return nil
}

func (v verifier) one(ctx context.Context, s *sessiondb.Store, prefix string) error {
	heads, err := s.List(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	id, err := v.Session(heads, prefix)
	if err != nil {
		return err
	}
	d, err := v.look(ctx, s, id)
	if err != nil {
		return err
	}
	if v.lines {
		if err := v.WriteJSON(d); err != nil {
			return err
		}
	}
	if bad := d.bad(); bad != nil {
		return &cmd.Damaged{Row: bad}
	}
	if v.lines {
		return nil
	}
	fmt.Fprintf(v.Stdout(), "%s: all %d rows are as they were written\n", safeterm.Name(string(id)), d.Entries)
	for _, f := range d.Findings {
		fmt.Fprintf(v.Stdout(), "  %s\n", safeterm.Name(f.String()))
	}
	return nil
}

// everyOne goes on after a bad session, and counts.
func (v verifier) everyOne(ctx context.Context, s *sessiondb.Store) error {
	heads, err := s.List(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	n := summary{Sessions: len(heads)}
	for _, h := range heads {
		d, err := v.look(ctx, s, h.ID)
		if err != nil {
			return err
		}
		bad := d.bad()
		if bad != nil {
			n.Unsound++
		}
		switch {
		case v.lines:
			err = v.WriteJSON(d)
		case bad != nil:
			fmt.Fprintf(v.Stdout(), "! %s\n", safeterm.Name(bad.Error()))
		}
		if err != nil {
			return err
		}
	}
	if v.lines {
		if err := v.WriteJSON(n); err != nil {
			return err
		}
	}
	if n.Unsound > 0 {
		v.Conclude(session.CauseStore, fmt.Sprintf("%d of %d sessions are not sound", n.Unsound, n.Sessions), "adze sessions repair ID makes a sound copy of one")
		return nil
	}
	if !v.lines {
		fmt.Fprintf(v.Stdout(), "%s checked, all sound\n", plural.Of(n.Sessions, "session"))
	}
	return nil
}
