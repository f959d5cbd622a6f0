package cmd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"adze/internal/sessiondb"
	"adze/internal/sessiondb/audit"
	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/session"
)

func (a *all) verify(ctx context.Context, words []string, all bool, anchor string) error {
	if all && (len(words) > 0 || anchor != "") {
		return usage.Mistake("leave the rest out", "--all verifies every session")
	}
	at, err := parseAnchor(anchor)
	if err != nil {
		return err
	}
	return a.Store(ctx, func(s *sessiondb.Store) error {
		if all {
			return a.verifyAll(ctx, s)
		}
		id, err := a.storedSession(ctx, s, words)
		if err != nil {
			return err
		}
		return a.verifyOne(ctx, s, id, at)
	})
}

// parseAnchor parses SEQ:HASH. It returns nil for "".
func parseAnchor(text string) (*sessiondb.Anchor, error) {
	if text == "" {
		return nil, nil
	}
	seq, hash, _ := strings.Cut(text, ":")
	n, err := strconv.ParseInt(seq, 10, 64)
	if err != nil || n < 1 || len(hash) != 64 {
		return nil, usage.Mistake("take the whole of what adze audit verify printed", "--anchor %s: want SEQ:HASH", text)
	}
	return &sessiondb.Anchor{Seq: n, Hash: strings.ToLower(hash)}, nil
}

func (a *all) verifyOne(ctx context.Context, s *sessiondb.Store, id session.ID, at *sessiondb.Anchor) error {
	n, err := 0, error(nil)
	if at != nil {
		n, err = s.Check(ctx, id, *at)
	} else {
		n, err = s.Verify(ctx, id)
	}
	if err != nil {
		return Readable(err)
	}
	t, err := trailOf(ctx, s, id)
	if err != nil {
		return err
	}
	if len(t.Findings) > 0 {
		return &Unsound{id, t.Findings[0]}
	}
	end, err := s.Anchor(ctx, id)
	if err != nil {
		return Readable(err)
	}
	fmt.Fprintf(a.Stdout(), "%s: all %d entries are as they were written; anchor %s\n", safeterm.Name(string(id)), n, end)
	return nil
}

// verifyAll reports each bad session and continues; it fails at the end with their number.
func (a *all) verifyAll(ctx context.Context, s *sessiondb.Store) error {
	heads, err := s.List(ctx)
	if err != nil {
		return Readable(err)
	}
	bad := 0
	for _, h := range heads {
		err := a.verifyOne(ctx, s, h.ID, nil)
		var changed *Damaged
		var unsound *Unsound
		switch {
		case errors.As(err, &changed), errors.As(err, &unsound):
			bad++
			fmt.Fprintf(a.Stdout(), "! %s\n", safeterm.Name(err.Error()))
		case err != nil:
			return err
		}
	}
	if bad > 0 {
		a.Conclude(session.CauseStore, fmt.Sprintf("%d of %d sessions are not sound", bad, len(heads)), "adze audit verify SESSION says what that means for one of them")
		return nil
	}
	fmt.Fprintf(a.Stdout(), "%s checked, all sound\n", plural.Of(len(heads), "session"))
	return nil
}

// Unsound means that a log's hash chain is valid but its records break a rule of the pipeline.
type Unsound struct {
	id      session.ID
	finding audit.Finding
}

// Error names the session and the problem.
func (e *Unsound) Error() string { return fmt.Sprintf("session %s: %s", e.id, e.finding) }
