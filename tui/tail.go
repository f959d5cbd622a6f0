package tui

import (
	"slices"

	"adze/tui/draw"
)

// final reports whether an entry does not change any more.
func (t *transcript) final(i int) bool {
	if i < t.ended {
		return true
	}
	switch e := t.entries[i].(type) {
	case *callEntry:
		return e.outcome != nil
	case *proseEntry:
		return e.done && !slices.Contains(t.pieces, e) // a message that fails is taken back
	}
	return true
}

// appendEntry appends an entry with the empty row before it, and forgets its layout.
func (t *transcript) appendEntry(rows []draw.Row, i, w int) []draw.Row {
	if t.gap(i) == 1 {
		rows = append(rows, draw.Row{})
	}
	rows = append(rows, t.entries[i].rows(t.draw, w)...)
	t.entries[i].forget()
	return rows
}

// tail is the last rows, at most h, of the entries from first on.
func (t *transcript) tail(first, w, h int) []draw.Row {
	var rows []draw.Row
	for i := len(t.entries) - 1; i >= first && len(rows) < h; i-- {
		own, room := t.entries[i].rows(t.draw, w), h-len(rows)
		part := own[max(len(own)-room, 0):]
		if len(own) < room && t.gap(i) == 1 {
			part = append([]draw.Row{{}}, part...)
		}
		rows = append(slices.Clip(part), rows...)
	}
	return rows
}

// line lays an entry out for who reads by lines; false: it is not finished. Thoughts are left out, and where the
// person writes the lines, so is what they just wrote.
func (t *transcript) line(i, w int, writes bool) (rows []draw.Row, finished bool) {
	switch e := t.entries[i].(type) {
	case *userEntry:
		if writes {
			return nil, true
		}
	case *callEntry:
		if e.outcome == nil {
			return nil, false
		}
	case *proseEntry:
		if !e.done || e.reasoning {
			return nil, e.done
		}
	}
	return t.entries[i].rows(t.draw, w), true
}
