package hostio

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"adze/internal/text/usage"
	"adze/internal/undo/recorder"
	"adze/session"
	"adze/session/api"
)

// Undo restores files for the interface, or returns a preview. since is the last user message. The
// returned log entry is nil if nothing was done.
func Undo(ctx context.Context, d recorder.Manager, w api.Undo, since string) (api.UndoResult, *session.UndoData, error) {
	wish := recorder.UndoOptions{Redo: w.Redo, Git: w.Git, Unknown: w.Unknown}
	if w.Since {
		wish.SinceMessage = cmp.Or(w.Message, since)
	}
	if w.Since && since == "" {
		return api.UndoResult{}, nil, nil
	}
	p, err := d.Plan(ctx, wish)
	switch none := errors.Is(err, recorder.ErrNothing) || errors.Is(err, recorder.ErrNoRedo); {
	case none && w.Plan != "":
		return api.UndoResult{}, nil, changed()
	case none && (w.Since || !errors.Is(err, recorder.ErrUncovered)):
		return api.UndoResult{}, nil, nil
	case err != nil:
		return api.UndoResult{}, nil, err
	}
	out := api.UndoResult{Git: p.Git > 0, Asks: p.Asks(), Doubt: p.UncertainPaths()}
	if w.Dry && out.Git && len(p.Steps) == 0 { // git's state is offered only if some of it can be restored
		wish.Git = true
		if with, err := d.Plan(ctx, wish); err == nil && len(with.Steps) == 0 {
			p, out.Git = with, false
		}
	}
	for _, t := range p.Turns {
		out.Turns = append(out.Turns, t.Asked)
	}
	if out.Plan = digest(p); w.Plan != "" && w.Plan != out.Plan {
		return api.UndoResult{}, nil, changed()
	}
	if w.Dry {
		for _, s := range p.Steps {
			out.Paths = append(out.Paths, s.Action+" "+s.Path)
		}
		out.Left = left(p.Refused)
		return out, nil, nil
	}
	done, err := p.Apply(ctx)
	if err != nil {
		return api.UndoResult{}, nil, err
	}
	out.Paths, out.Left = done.Paths, left(done.Refused)
	return out, &done.Entry, nil
}

// changed reports that the plan differs from the shown one.
func changed() error { return usage.Mistake("look again", "the plan has changed") }

// digest identifies a plan by its turns and the change of each path.
func digest(p *recorder.Proposal) string {
	sum := sha256.New()
	for _, t := range p.Turns {
		fmt.Fprintf(sum, "turn %q\n", t.Message)
	}
	for _, s := range p.Steps {
		fmt.Fprintf(sum, "%s %q\n", s.Action, s.Path)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

func left(refused []session.Refused) (out []string) {
	for _, r := range refused {
		out = append(out, r.Path+": "+r.Reason)
	}
	return out
}
