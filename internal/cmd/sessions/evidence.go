package sessions

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/sessiondb"
	"adze/internal/text/safeterm"
	"adze/session"
)

func (p past) evidence() *cobra.Command {
	c := &cobra.Command{Use: "evidence [ID]", Annotations: cmd.CallableByTools(), Short: "List what calls show of a session's last answer, and what they do not", Args: cmd.RangeArgs(0, 1), ValidArgsFunction: p.ids,
		Long: `Prints a Markdown list for a commit message or a pull request. Behind ✓ stands what the last answer says and the call that
shows it; behind ✗ what it says without a call. A sentence of which nothing is known is not in the list. Without an ID: the
session last used in this folder.`,
		Example: "  adze sessions evidence\n  { echo 'Fix the parser'; echo; adze sessions evidence; } | git commit -F -\n  adze sessions evidence --json | jq .evidence",
		RunE: func(c *cobra.Command, words []string) error {
			return p.showEvidence(c.Context(), first(words), cmd.Flagged(c, "json"))
		}}
	c.Flags().Bool("json", false, "one JSON object with claims and evidence")
	return c
}

// evidenceJSON is the --json object.
type evidenceJSON struct {
	Session  session.ID         `json:"session"`
	Claims   []session.Claim    `json:"claims"`
	Evidence []session.Evidence `json:"evidence"`
}

func (p past) showEvidence(ctx context.Context, prefix string, asJSON bool) error {
	found := evidenceJSON{Claims: []session.Claim{}, Evidence: []session.Evidence{}}
	err := p.Store(ctx, func(s *sessiondb.Store) error {
		head, err := p.one(ctx, s, prefix)
		if err != nil {
			return err
		}
		found.Session = head.ID
		log, err := s.Load(ctx, head.ID)
		if err != nil {
			return cmd.Readable(err)
		}
		return found.read(log)
	})
	if err != nil {
		return err
	}
	if asJSON {
		return p.WriteJSON(found)
	}
	list := session.EvidenceText(found.Evidence, found.Claims)
	if list == "" {
		fmt.Fprintln(p.Err, "nothing in the last answer of this session is known to be true or in doubt")
		return nil
	}
	_, err = fmt.Fprint(p.Out, safeterm.Clean(list))
	return err
}

// read collects the evidence for the newest turn's answer.
func (c *evidenceJSON) read(log []session.Entry) error {
	for _, e := range log {
		switch e.Type {
		case session.RewindEntry:
			c.Claims, c.Evidence = c.Claims[:0], c.Evidence[:0]
		case session.EndEntry:
			var r session.Result
			if err := json.Unmarshal(e.Data, &r); err != nil {
				return fmt.Errorf("the end of a turn: %w", err)
			}
			c.Claims, c.Evidence = append(c.Claims[:0], r.Claims...), append(c.Evidence[:0], r.Evidence...)
		}
	}
	return nil
}
