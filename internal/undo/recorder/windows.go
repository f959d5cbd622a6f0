package recorder

import (
	"cmp"
	"math"
	"slices"

	"adze/internal/undo"
	"adze/session"
)

// timeline has the windows of some turns, cut at all the states that there are and put together
// where they touch, so that nothing counts twice where calls ran beside each other. now is the
// state that is there: the end of what has none.
type timeline struct {
	root            string
	now             undo.Mark
	certain, unsure []span        // of the turns: by known calls, and by nobody known
	points          []point       // all states of the folder
	named           []namedWindow // of the turns, oldest first
}

// point is a state at its time, span the time of a window.
type point struct {
	at   int64
	mark undo.Mark
}

type span struct{ from, to int64 }

// cut prepares the windows of a past. Those of turns that are in are to be undone; running says
// that what has no end still runs, so that it is known who changes the files.
func (p *Past) cut(root string, now undo.Mark, in func(Turn) bool, running bool) (*timeline, error) {
	s := &timeline{root: root, now: now}
	for _, t := range p.Turns {
		for _, w := range t.Windows {
			if w.Before.Root != root {
				continue
			}
			var err error
			switch {
			case len(w.Before.Only) == 0:
				err = s.add(w, in(t), running)
			case in(t):
				err = s.addNamed(w)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(s.points, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	s.points = slices.CompactFunc(s.points, func(a, b point) bool { return a.at == b.at })
	return s, nil
}

// open reports a window of the whole folder that has no end.
func (p *Past) open(root string) bool {
	return slices.ContainsFunc(p.Turns, func(t Turn) bool {
		return slices.ContainsFunc(t.Windows, func(w session.Window) bool {
			return w.After == nil && w.Before.Root == root && len(w.Before.Only) == 0
		})
	})
}

func (s *timeline) add(w session.Window, in, running bool) error {
	from, err := undo.ParseMark(w.Before.Mark)
	if err != nil {
		return err
	}
	s.points = append(s.points, point{w.Before.At, from})
	time := span{w.Before.At, math.MaxInt64}
	unsure := w.By == session.ByUnknown || w.After == nil && !running
	if w.After == nil {
		s.points = append(s.points, point{math.MaxInt64, s.now})
	} else {
		to, err := undo.ParseMark(w.After.Mark)
		if err != nil {
			return err
		}
		s.points = append(s.points, point{w.After.At, to})
		time.to = w.After.At
	}
	switch {
	case in && unsure:
		s.unsure = append(s.unsure, time)
	case in:
		s.certain = append(s.certain, time)
	}
	return nil
}

// windows are the stretches of time in which one of the spans ran and none of the others.
func (s *timeline) windows(in, but []span) (out []undo.Window) {
	joined := false
	for i := 1; i < len(s.points); i++ {
		a, b := s.points[i-1], s.points[i]
		holds := func(t span) bool { return t.from <= a.at && b.at <= t.to }
		if !slices.ContainsFunc(in, holds) || slices.ContainsFunc(but, holds) {
			joined = false
			continue
		}
		if joined {
			out[len(out)-1].After = b.mark
		} else {
			out = append(out, undo.Window{Before: a.mark, After: b.mark})
		}
		joined = true
	}
	return out
}
