package hostio

import (
	"cmp"
	"context"
	"errors"

	"adze/internal/undo/recorder"
	"adze/session"
	"adze/tui/api"
)

// Undo puts files back as a user wishes in the interface, or says what it would put back. since is
// the message that they said last. What stands in the log of it is nil where nothing was done.
func Undo(ctx context.Context, d recorder.Desk, w api.Undo, since string) (api.Undone, *session.Undone, error) {
	wish := recorder.Wish{Redo: w.Redo, Git: w.Git, Unknown: w.Unknown}
	if w.Since {
		wish.Since = cmp.Or(w.Message, since)
	}
	if w.Since && since == "" {
		return api.Undone{}, nil, nil
	}
	p, err := d.Plan(ctx, wish)
	if errors.Is(err, recorder.ErrNothing) || errors.Is(err, recorder.ErrNoRedo) {
		return api.Undone{}, nil, nil
	}
	if err != nil {
		return api.Undone{}, nil, err
	}
	out := api.Undone{Git: p.Git > 0, Asks: p.Asks(), Doubt: p.Doubt(), Unseen: p.Unseen()}
	for _, t := range p.Turns {
		out.Turns = append(out.Turns, t.Asked)
	}
	if w.Dry {
		for _, s := range p.Steps {
			out.Paths = append(out.Paths, s.Does+" "+s.Path)
		}
		out.Left = left(p.Refused)
		return out, nil, nil
	}
	done, err := p.Do(ctx)
	if err != nil {
		return api.Undone{}, nil, err
	}
	out.Paths, out.Left = done.Paths, left(done.Refused)
	return out, &done.Entry, nil
}

func left(refused []session.Refused) (out []string) {
	for _, r := range refused {
		out = append(out, r.Path+": "+r.Reason)
	}
	return out
}
