// Package vim is the keys of the editor of that name, over a text of package edit. It knows nothing
// else.
//
// Start reading at Keys.Press; parse.go says what was asked for, motion.go and object.go where that
// is, do.go does it. Known limits: the keys of a line of text: no visual mode, registers, marks,
// macros or searches, and of text objects words alone.
package vim

import (
	"strings"

	"adze/tui/edit"
)

// mode is what keys do.
type mode uint8

const (
	inserting mode = iota // they write
	normal
)

// Stroke is one key: its name, and what it writes.
type Stroke struct{ Key, Text string }

// Keys is the state of vim's keys for one text. The zero value is off.
type Keys struct {
	On      bool
	mode    mode
	pending []Stroke // the beginning of a command
	lines   bool     // what was deleted or copied last are whole lines
	find    find     // the last f, F, t or T
	change  []Stroke // the last change, for the dot
	record  []Stroke // the change that is being written; if nil, none is
	replays bool
}

// Press takes one key; if false, it is none of vim's. Browse says that the cursor cannot go on up
// (-1) or down.
func (v *Keys) Press(e *edit.Editor, w int, s Stroke) (taken bool, browse int) {
	if v.mode == inserting {
		if s.Key == "esc" {
			v.leaveInsert(e)
			v.Settle(e)
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
		v.Settle(e)
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
	if state == more {
		return true, 0
	}
	keys := v.pending
	v.pending = nil
	if state == none {
		return true, 0
	}
	browse = v.obey(e, w, c, keys)
	v.Settle(e)
	return true, browse
}

// BeginCommand has what follows written, where a command of adze may begin: normal mode, nothing
// pending.
func (v *Keys) BeginCommand(e *edit.Editor) bool {
	if v.mode != normal || !e.Empty() || len(v.pending) > 0 {
		return false
	}
	v.enterInsert(e)
	return true
}

// obey does a command, and remembers it when it changes something.
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
	e.Together(func() {
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

// write is what keys do that write, as far as the dot repeats them.
func write(e *edit.Editor, s Stroke) {
	switch {
	case edit.Types(s.Text):
		e.Insert(s.Text)
	case s.Key == "backspace":
		e.Cut(e.Left(), e.At)
	case s.Key == "delete":
		e.Cut(e.At, e.Right())
	case s.Key == "ctrl+w":
		e.Cut(e.WordLeft(), e.At)
	case s.Key == "ctrl+j" || s.Key == "alt+enter" || s.Key == "shift+enter":
		e.Insert("\n")
	}
}

// enterInsert lets keys write; what they write is undone at once.
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
	if e.At > e.LineStart() {
		e.MoveTo(e.Left())
	}
}

// Reset is after the prompt was sent or emptied: the next key writes.
func (v *Keys) Reset(e *edit.Editor) {
	if v.On && v.mode != inserting || e.InOne() {
		v.leaveInsert(e)
	}
	v.mode, v.pending, v.record = inserting, nil, nil
}

// Settle keeps the cursor on a character outside of insert mode: what was written may join what is
// there.
func (v *Keys) Settle(e *edit.Editor) {
	if !v.On || v.mode == inserting {
		return
	}
	if at := snap(e, e.At); at != e.At {
		e.MoveTo(at)
	}
	if v.mode == normal && e.At == e.LineEnd() && e.At > e.LineStart() {
		e.StepLeft()
	}
}

// Name is what the prompt shows of it.
func (v *Keys) Name() string {
	if !v.On {
		return ""
	}
	var keys strings.Builder
	for _, s := range v.pending {
		keys.WriteString(s.Text)
	}
	return strings.TrimSpace([...]string{"insert", "normal"}[v.mode] + " " + keys.String())
}
