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
	past, future []snapshot
	bytes        int // in past
	last         change
	depth        int  // nested Begin calls; their changes are undone together
	kept         bool // a snapshot was taken since Begin
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
	if c != otherChange && c == u.last && len(u.past) > 0 {
		return
	}
	u.last = c
	if n := len(u.past); n > 0 && u.past[n-1] == (snapshot{e.Text, e.At}) {
		return
	}
	u.past = append(u.past, snapshot{e.Text, e.At})
	u.bytes += len(e.Text)
	for len(u.past) > maxUndo || u.bytes > maxUndoBytes && len(u.past) > 1 {
		u.bytes -= len(u.past[0].text)
		u.past = u.past[1:]
	}
}

// Together runs several changes as one.
func (e *Editor) Together(do func()) {
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
	for n := len(u.past) - 1; n >= 0; n-- {
		s := u.past[n]
		u.past = u.past[:n]
		u.bytes -= len(s.text)
		if s.text != e.Text {
			u.future = append(u.future, snapshot{e.Text, e.At})
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
	u.past = append(u.past, snapshot{e.Text, e.At})
	u.bytes += len(e.Text)
	e.to(s)
	return true
}

func (e *Editor) to(s snapshot) {
	e.Text, e.At, e.goal, e.undone.last = s.text, s.at, 0, otherChange
	e.undone.kept = false
}

// typing classifies inserting s: undo works word by word, with trailing spaces.
func typing(e *Editor, s string) change {
	r, n := utf8.DecodeRuneInString(s)
	if n != len(s) || s == "\n" || s == "" {
		return otherChange
	}
	before, _ := utf8.DecodeLastRuneInString(e.Text[:e.At])
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
