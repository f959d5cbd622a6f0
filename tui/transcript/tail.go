package transcript

import (
	"slices"

	"adze/tool"
	"adze/tui/draw"
)

// Final reports whether entry i no longer changes.
func (t *Pane) Final(i int) bool {
	if i < t.turnStart {
		return true
	}
	switch e := t.entries[i].(type) {
	case *callEntry:
		return t.settled(i, e)
	case *proseEntry:
		return e.done && !slices.Contains(t.pieces, e) && // a failed message is removed
			(e.reasoning || i < len(t.entries)-1) // the last answer may still get remarks
	case *noteEntry:
		return e != t.retried || i < len(t.entries)-1
	}
	return true
}

// settled reports whether a call has ended, and every call that may share its row.
func (t *Pane) settled(at int, e *callEntry) bool {
	for i, c := at, e; ; i, c = i+1, c.next {
		if c.outcome == nil {
			return false
		}
		if i == len(t.entries)-1 {
			return !c.quiet()
		}
		if c.next == nil || !c.next.joined() {
			return true
		}
	}
}

// AppendEntry appends an entry with the empty row before it and drops its layout.
func (t *Pane) AppendEntry(rows []draw.Row, i, w int) []draw.Row {
	if t.gap(t.draw, i) == 1 {
		rows = append(rows, draw.Row{})
	}
	if p, ok := t.entries[i].(*proseEntry); ok {
		p.written = true
	}
	rows = append(rows, t.entries[i].rows(t.draw, w)...)
	t.entries[i].forget()
	return rows
}

// Tail returns the last rows, at most h, of the entries from first on.
func (t *Pane) Tail(first, w, h int) []draw.Row {
	var rows []draw.Row
	for i := len(t.entries) - 1; i >= first && len(rows) < h; i-- {
		own, room := t.entries[i].rows(t.draw, w), h-len(rows)
		part := own[max(len(own)-room, 0):]
		if len(own) < room && t.gap(t.draw, i) == 1 {
			part = append([]draw.Row{{}}, part...)
		}
		rows = append(slices.Clip(part), rows...)
	}
	return rows
}

// Line lays out an entry for the line-based interface; finished is false if it may still change. It
// omits thinking and, if writes is set, the user's messages.
func (t *Pane) Line(i, w int, writes bool) (rows []draw.Row, finished bool) {
	switch e := t.entries[i].(type) {
	case *userEntry:
		if writes {
			return nil, true
		}
	case *callEntry:
		if !t.Final(i) {
			return nil, false
		}
	case *proseEntry:
		if !e.done || e.reasoning {
			return nil, e.done
		}
		e.written = true
	}
	return t.entries[i].rows(t.draw, w), true
}

// Reveal scrolls to a message or one of its calls. It returns false if it is not in the transcript.
func (t *Pane) Reveal(message string, call tool.CallID) bool {
	at := slices.IndexFunc(t.entries, func(e entry) bool {
		switch e := e.(type) {
		case *callEntry:
			return call != "" && e.id == call
		case *userEntry:
			return call == "" && e.message == message
		case *proseEntry:
			return call == "" && e.message == message && !e.reasoning
		}
		return false
	})
	if at < 0 {
		return false
	}
	t.top, t.follow = position{at, 0}, false
	return true
}
