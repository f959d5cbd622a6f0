package edit

import (
	"unicode"
	"unicode/utf8"
)

// Limits for the undo history.
const (
	maxUndo      = 1000
	maxUndoBytes = 8 << 20
)

// change classifies changes; consecutive equal ones are undone together.
type change uint8

const (
	otherChange change = iota
	typeChange
	eraseChange
)

// snapshot is an earlier text.
type snapshot struct {
	text string
	at   int
}

// history is the undo history.
type history struct {
	states, future []snapshot
	bytes          int // in past
	last           change
	depth          int  // nested Begin calls; their changes are undone together
	kept           bool // a snapshot was taken since Begin
}

// keep takes a snapshot before a change.
func (e *Editor) keep(c change) {
	u := &e.undone
	if u.depth > 0 {
		if u.kept {
			return
		}
		u.kept, c = true, otherChange // the first change in a group
	}
	u.future = nil
	if c != otherChange && c == u.last && len(u.states) > 0 {
		return
	}
	u.last = c
	if n := len(u.states); n > 0 && u.states[n-1] == (snapshot{e.Text, e.Cursor}) {
		return
	}
	u.states = append(u.states, snapshot{e.Text, e.Cursor})
	u.bytes += len(e.Text)
	for len(u.states) > maxUndo || u.bytes > maxUndoBytes && len(u.states) > 1 {
		u.bytes -= len(u.states[0].text)
		u.states = u.states[1:]
	}
}

// AsOneChange runs several changes as one.
func (e *Editor) AsOneChange(do func()) {
	e.Begin()
	do()
	e.End()
}

// Begin starts several changes that are undone as one, until End; calls may nest.
func (e *Editor) Begin() {
	u := &e.undone
	if u.depth == 0 {
		u.kept = false
	}
	u.depth++
}

func (e *Editor) End() {
	e.undone.depth--
	e.undone.last = otherChange
}

// Undo reverts the last change; it returns false if there is none.
func (e *Editor) Undo() bool {
	u := &e.undone
	for n := len(u.states) - 1; n >= 0; n-- {
		s := u.states[n]
		u.states = u.states[:n]
		u.bytes -= len(s.text)
		if s.text != e.Text {
			u.future = append(u.future, snapshot{e.Text, e.Cursor})
			e.to(s)
			return true
		}
	}
	return false
}

// Redo repeats an undone change.
func (e *Editor) Redo() bool {
	u := &e.undone
	n := len(u.future) - 1
	if n < 0 {
		return false
	}
	s := u.future[n]
	u.future = u.future[:n]
	u.states = append(u.states, snapshot{e.Text, e.Cursor})
	u.bytes += len(e.Text)
	e.to(s)
	return true
}

func (e *Editor) to(s snapshot) {
	e.Text, e.Cursor, e.goal, e.undone.last = s.text, s.at, 0, otherChange
	e.undone.kept = false
}

// typing classifies inserting s: undo works word by word, with trailing spaces.
func typing(e *Editor, s string) change {
	r, n := utf8.DecodeRuneInString(s)
	if n != len(s) || s == "\n" || s == "" {
		return otherChange
	}
	before, _ := utf8.DecodeLastRuneInString(e.Text[:e.Cursor])
	if unicode.IsSpace(before) && !unicode.IsSpace(r) {
		e.undone.last = otherChange // a word begins
	}
	return typeChange
}

// erasing classifies cutting from..to.
func erasing(from, to int) change {
	if to-from > utf8.UTFMax {
		return otherChange
	}
	return eraseChange
}
