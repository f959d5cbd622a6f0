package desk

import (
	"context"
	"errors"

	"adze/internal/rewind"
	"adze/session"
	"adze/tui/port"
)

// Undo puts files back as a person wishes in the interface, or says what it would put back. since
// is the message that they said last. What stands in the log of it is nil where nothing was done.
func Undo(ctx context.Context, d rewind.Desk, w port.Undo, since string) (port.Undone, *session.Undone, error) {
	wish := rewind.Wish{Redo: w.Redo, Git: w.Git, Unknown: w.Unknown}
	if w.Since {
		wish.Since = since
	}
	if w.Since && since == "" {
		return port.Undone{}, nil, nil
	}
	p, err := d.Plan(ctx, wish)
	if errors.Is(err, rewind.ErrNothing) || errors.Is(err, rewind.ErrNoRedo) {
		return port.Undone{}, nil, nil
	}
	if err != nil {
		return port.Undone{}, nil, err
	}
	out := port.Undone{Git: p.Git > 0, Asks: p.Asks(), Doubt: p.Doubt(), Unseen: p.Unseen()}
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
		return port.Undone{}, nil, err
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
