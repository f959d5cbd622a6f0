package tui

import (
	"strings"
)

// vimMode is what keys do.
type vimMode uint8

const (
	vimInsert vimMode = iota // they write
	vimNormal
	vimVisual // they choose text
	vimLines  // they choose whole lines
)

// stroke is one key: its name, and what it writes.
type stroke struct{ key, text string }

// vim is the keys of the editor of that name, for the prompt. It works on a text with a cursor and knows
// nothing else: vim_parse.go says what was asked for, vim_motion.go and vim_object.go where that is, vim_do.go
// does it. The zero value is off.
type vim struct {
	on      bool
	mode    vimMode
	pending []stroke // the beginning of a command
	anchor  int      // where choosing text began
	lines   bool     // what was deleted or copied last are whole lines
	find    find     // the last f, F, t or T
	change  []stroke // the last change, for the dot
	record  []stroke // the change that is being written; nil: none is
	replays bool
}

// press takes one key; false: it is none of vim's. Browse says that the cursor cannot go on up (-1) or down.
func (v *vim) press(e *editor, w int, s stroke) (taken bool, browse int) {
	if v.mode == vimInsert {
		if s.key == "esc" {
			v.leaveInsert(e)
			v.settle(e)
			return true, 0
		}
		if v.record != nil {
			v.record = append(v.record, s)
		}
		return false, 0
	}
	switch {
	case s.key == "esc" && (len(v.pending) > 0 || v.mode != vimNormal):
		v.pending, v.mode = nil, vimNormal
		v.settle(e)
		return true, 0
	case s.key == "ctrl+r":
		s.text = s.key
	case s.key == "backspace":
		s.text = "h"
	case s.text == "":
		v.pending = nil
		return false, 0
	}
	v.pending = append(v.pending, s)
	c, state := parseVim(v.pending, v.mode != vimNormal)
	if state == vimMore {
		return true, 0
	}
	keys := v.pending
	v.pending = nil
	if state == vimNone {
		return true, 0
	}
	browse = v.obey(e, w, c, keys)
	v.settle(e)
	return true, browse
}

// obey does a command, and remembers it when it changes something.
func (v *vim) obey(e *editor, w int, c vimCommand, keys []stroke) (browse int) {
	before := e.text
	switch {
	case c.verb == ".":
		v.again(e, w, c.count)
		return 0
	case v.mode != vimNormal:
		v.visual(e, w, c)
		return 0
	default:
		browse = v.do(e, w, c)
	}
	switch {
	case v.replays:
	case v.mode == vimInsert:
		v.record = append([]stroke{}, keys...)
	case e.text != before && c.changes():
		v.change = keys
	}
	return browse
}

// again repeats the last change.
func (v *vim) again(e *editor, w, count int) {
	if v.replays || len(v.change) == 0 {
		return
	}
	v.replays = true
	e.together(func() {
		for range max(count, 1) {
			before := e.text
			for _, s := range v.change {
				if taken, _ := v.press(e, w, s); !taken {
					write(e, s)
				}
			}
			if v.mode == vimInsert {
				v.leaveInsert(e)
			}
			if e.text == before || len(e.text) > longText {
				break
			}
		}
	})
	v.replays = false
}

// write is what keys do that write, as far as the dot repeats them.
func write(e *editor, s stroke) {
	switch {
	case typed(s.text):
		e.insert(s.text)
	case s.key == "backspace":
		e.cut(e.left(), e.at)
	case s.key == "delete":
		e.cut(e.at, e.right())
	case s.key == "ctrl+w":
		e.cut(e.wordLeft(), e.at)
	case s.key == "ctrl+j" || s.key == "alt+enter" || s.key == "shift+enter":
		e.insert("\n")
	}
}

// enterInsert lets keys write; what they write is undone at once.
func (v *vim) enterInsert(e *editor) {
	v.mode = vimInsert
	e.begin()
}

func (v *vim) leaveInsert(e *editor) {
	if e.inOne() {
		e.end()
	}
	v.mode = vimNormal
	if v.record != nil {
		v.change, v.record = v.record, nil
	}
	if e.at > e.lineStart() {
		e.moveTo(e.left())
	}
}

// reset is after the prompt was sent or emptied: the next key writes.
func (v *vim) reset(e *editor) {
	if v.on && v.mode != vimInsert || e.inOne() {
		v.leaveInsert(e)
	}
	v.mode, v.pending, v.record = vimInsert, nil, nil
}

// settle keeps the cursor on a character outside of insert mode: what was written may join what is there.
func (v *vim) settle(e *editor) {
	if !v.on || v.mode == vimInsert {
		return
	}
	if at := snap(e, e.at); at != e.at {
		e.moveTo(at)
	}
	if v.mode == vimNormal && e.at == e.lineEnd() && e.at > e.lineStart() {
		e.stepLeft()
	}
}

// name is what the prompt shows of it.
func (v *vim) name() string {
	if !v.on {
		return ""
	}
	var keys strings.Builder
	for _, s := range v.pending {
		keys.WriteString(s.text)
	}
	return strings.TrimSpace([...]string{"insert", "normal", "visual", "visual line"}[v.mode] + " " + keys.String())
}
