package recorder

import (
	"cmp"
	"math"
	"slices"

	"adze/internal/undo"
	"adze/session"
)

// stretch is a time in which calls of chosen turns ran, between two states.
type stretch struct {
	undo.Window
	from, to int64
}

// stretches are the windows of turns that are to be undone, of the whole folder, oldest first:
// those by known calls, and those by nobody known. Those that touch are put together, so that
// nothing counts twice where calls ran beside each other. now is the state that is there: the end
// of what has none. If running, what has no end still runs, and it is known who changes the files.
func stretches(turns []Turn, root string, now undo.Mark, running bool) (certain, unsure []stretch, err error) {
	for _, t := range turns {
		for _, w := range t.Windows {
			if w.Before.Root != root || len(w.Before.Only) > 0 {
				continue
			}
			s := stretch{from: w.Before.At, to: math.MaxInt64}
			if s.Before, err = undo.ParseMark(w.Before.Mark); err != nil {
				return nil, nil, err
			}
			if s.After = now; w.After != nil {
				s.to = w.After.At
				if s.After, err = undo.ParseMark(w.After.Mark); err != nil {
					return nil, nil, err
				}
			}
			if w.By == session.ByUnknown || w.After == nil && !running {
				unsure = append(unsure, s)
			} else {
				certain = append(certain, s)
			}
		}
	}
	return certain, unsure, nil
}

// joined are stretches, of which those that touch are one.
func joined(all []stretch) (out []undo.Window) {
	slices.SortStableFunc(all, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	to := int64(math.MinInt64)
	for _, s := range all {
		switch {
		case s.from > to:
			out = append(out, s.Window)
		case s.to > to:
			out[len(out)-1].After = s.After
		}
		to = max(to, s.to)
	}
	return out
}

// named are the windows of named paths of turns, oldest first. They are never put together: states
// of other paths say nothing about these.
func named(turns []Turn, root string, unsure bool) (out []undo.Window, err error) {
	for _, t := range turns {
		for _, w := range t.Windows {
			if w.Before.Root != root || len(w.Before.Only) == 0 || (w.By == session.ByUnknown) != unsure {
				continue
			}
			window, err := one(w, false)
			if err != nil {
				return nil, err
			}
			out = append(out, window...)
		}
	}
	return out, nil
}

// open reports a window of the whole folder that has no end.
func (p *Past) open(root string) bool {
	return slices.ContainsFunc(p.Turns, func(t Turn) bool {
		return slices.ContainsFunc(t.Windows, func(w session.Window) bool {
			return w.After == nil && w.Before.Root == root && len(w.Before.Only) == 0
		})
	})
}
