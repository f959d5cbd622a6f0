package recorder

import (
	"cmp"
	"math"
	"slices"

	"adze/internal/undo"
	"adze/session"
)

// stretch is the time between two states in which calls of chosen turns ran.
type stretch struct {
	undo.Window
	from, to int64
}

// stretches returns the turns' windows of the whole folder: those of known calls, and those of
// unknown origin. A window without an end extends to now, the present state; if running, its calls
// still run and count as known.
func stretches(turns []Turn, root string, now undo.Mark, running bool) (certain, unsure []stretch, err error) {
	for _, t := range turns {
		for _, w := range t.Windows {
			if w.Before.Root != root || len(w.Before.Only) > 0 {
				continue
			}
			s := stretch{from: w.Before.Time, to: math.MaxInt64}
			if s.Before, err = undo.ParseMark(w.Before.Mark); err != nil {
				return nil, nil, err
			}
			if s.After = now; w.After != nil {
				s.to = w.After.Time
				if s.After, err = undo.ParseMark(w.After.Mark); err != nil {
					return nil, nil, err
				}
			}
			if w.Author == session.ByUnknown || w.After == nil && !running {
				unsure = append(unsure, s)
			} else {
				certain = append(certain, s)
			}
		}
	}
	return certain, unsure, nil
}

// joined merges stretches that touch, so changes of concurrent calls do not count twice.
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

// named returns the turns' windows of named paths, oldest first. They are never joined: states of
// different paths are not comparable.
func named(turns []Turn, root string, unsure bool) (out []undo.Window, err error) {
	for _, t := range turns {
		for _, w := range t.Windows {
			if w.Before.Root != root || len(w.Before.Only) == 0 || (w.Author == session.ByUnknown) != unsure {
				continue
			}
			window, err := one(w)
			if err != nil {
				return nil, err
			}
			out = append(out, window...)
		}
	}
	return out, nil
}

// open reports whether a window of the whole folder has no end.
func (p *History) open(root string) bool {
	return slices.ContainsFunc(p.Turns, func(t Turn) bool {
		return slices.ContainsFunc(t.Windows, func(w session.Window) bool {
			return w.After == nil && w.Before.Root == root && len(w.Before.Only) == 0
		})
	})
}
