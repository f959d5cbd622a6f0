// Package vim implements keys of the editor vim for a text of package edit.
//
// Start reading at Keys.Press; parse.go parses commands, motion.go and object.go find their ranges,
// do.go runs them. Known limits: keys for a line of text; no visual mode, registers, marks, macros
// or searches; words are the only text objects.
package vim

import (
	"strings"

	"adze/tui/edit"
)

type mode uint8

const (
	inserting mode = iota // keys write text
	normal
)

// Stroke is one key: its name and its text.
type Stroke struct{ Key, Text string }

// Keys is the vim state for one text. The zero value is off.
type Keys struct {
	Enabled bool
	mode    mode
	pending []Stroke // keys pressed so far
	lines   bool     // the last deleted or copied text is whole lines
	find    find     // last f, F, t or T
	change  []Stroke // last change, for the dot
	record  []Stroke // change being recorded; nil if none
	replays bool
}

// Press handles a key; it returns false if vim does not use it. browse is -1 or 1 if the cursor
// cannot move further up or down.
func (v *Keys) Press(e *edit.Editor, w int, s Stroke) (taken bool, browse int) {
	if v.mode == inserting {
		if s.Key == "esc" {
			v.leaveInsert(e)
			v.FixCursor(e)
			return true, 0
		}
		if v.record != nil {
			v.record = append(v.record, s)
		}
		return false, 0
	}
	switch {
	case s.Key == "esc" && len(v.pending) > 0:
		v.pending = nil
		v.FixCursor(e)
		return true, 0
	case s.Key == "ctrl+r":
		s.Text = s.Key
	case s.Key == "backspace":
		s.Text = "h"
	case s.Text == "":
		v.pending = nil
		return false, 0
	}
	v.pending = append(v.pending, s)
	c, state := parse(v.pending)
	if state == incomplete {
		return true, 0
	}
	keys := v.pending
	v.pending = nil
	if state == none {
		return true, 0
	}
	browse = v.obey(e, w, c, keys)
	v.FixCursor(e)
	return true, browse
}

// BeginCommand enters insert mode where a slash command may begin: in normal mode, with an empty
// text and no pending keys.
func (v *Keys) BeginCommand(e *edit.Editor) bool {
	if v.mode != normal || !e.Empty() || len(v.pending) > 0 {
		return false
	}
	v.enterInsert(e)
	return true
}

// obey runs a command and records it if it changes the text.
func (v *Keys) obey(e *edit.Editor, w int, c command, keys []Stroke) (browse int) {
	before := e.Text
	if c.verb == "." {
		v.again(e, w, c.count)
		return 0
	}
	browse = v.do(e, w, c)
	switch {
	case v.replays:
	case v.mode == inserting:
		v.record = append([]Stroke{}, keys...)
	case e.Text != before && c.changes():
		v.change = keys
	}
	return browse
}

// again repeats the last change.
func (v *Keys) again(e *edit.Editor, w, count int) {
	if v.replays || len(v.change) == 0 {
		return
	}
	v.replays = true
	e.AsOneChange(func() {
		for range max(count, 1) {
			before := e.Text
			for _, s := range v.change {
				if taken, _ := v.Press(e, w, s); !taken {
					write(e, s)
				}
			}
			if v.mode == inserting {
				v.leaveInsert(e)
			}
			if e.Text == before || len(e.Text) > edit.Long {
				break
			}
		}
	})
	v.replays = false
}

// write handles keys in insert mode when the dot repeats them.
func write(e *edit.Editor, s Stroke) {
	switch {
	case edit.Types(s.Text):
		e.Insert(s.Text)
	case s.Key == "backspace":
		e.Cut(e.Previous(), e.Cursor)
	case s.Key == "delete":
		e.Cut(e.Cursor, e.Right())
	case s.Key == "ctrl+w":
		e.Cut(e.WordLeft(), e.Cursor)
	case s.Key == "ctrl+j" || s.Key == "alt+enter" || s.Key == "shift+enter":
		e.Insert("\n")
	}
}

// enterInsert enters insert mode; its changes are undone together.
func (v *Keys) enterInsert(e *edit.Editor) {
	v.mode = inserting
	e.Begin()
}

func (v *Keys) leaveInsert(e *edit.Editor) {
	if e.InOne() {
		e.End()
	}
	v.mode = normal
	if v.record != nil {
		v.change, v.record = v.record, nil
	}
	if e.Cursor > e.LineStart() {
		e.MoveTo(e.Previous())
	}
}

// Reset returns to insert mode after the prompt was sent or emptied.
func (v *Keys) Reset(e *edit.Editor) {
	if v.Enabled && v.mode != inserting || e.InOne() {
		v.leaveInsert(e)
	}
	v.mode, v.pending, v.record = inserting, nil, nil
}

// FixCursor keeps the cursor on a character outside insert mode.
func (v *Keys) FixCursor(e *edit.Editor) {
	if !v.Enabled || v.mode == inserting {
		return
	}
	if at := snap(e, e.Cursor); at != e.Cursor {
		e.MoveTo(at)
	}
	if v.mode == normal && e.Cursor == e.LineEnd() && e.Cursor > e.LineStart() {
		e.StepLeft()
	}
}

// Name returns the mode and the pending keys for display.
func (v *Keys) Name() string {
	if !v.Enabled {
		return ""
	}
	var keys strings.Builder
	for _, s := range v.pending {
		keys.WriteString(s.Text)
	}
	return strings.TrimSpace([...]string{"insert", "normal"}[v.mode] + " " + keys.String())
}
