package tui

import "strings"

// chosen is the text that visual mode covers.
func (v *vim) chosen(e *editor) (from, to int, ok bool) {
	if !v.on || v.mode != vimVisual && v.mode != vimLines {
		return 0, 0, false
	}
	last := e.copyAt(min(max(v.anchor, e.at), len(e.text)))
	from, to = min(v.anchor, e.at, len(e.text)), last.right()
	if v.mode == vimLines {
		first := editorAt(e.text, from)
		return first.lineStart(), last.lineEnd(), true
	}
	return from, to, true
}

// visual is a command of visual mode.
func (v *vim) visual(e *editor, w int, c vimCommand) {
	from, to, _ := v.chosen(e)
	lines := v.mode == vimLines
	op := map[string]string{"d": "d", "x": "d", "c": "c", "s": "c", "y": "y"}[c.verb]
	switch {
	case c.object != "":
		if from, to, ok := object(e, c); ok {
			last := e.copyAt(snap(e, to))
			v.anchor = snap(e, from)
			e.moveTo(last.left())
		}
	case op != "":
		v.mode = vimNormal
		e.together(func() { v.operate(e, op, from, to, lines) })
	case c.verb == "v" || c.verb == "V":
		v.mode = vimNormal
	case c.verb == "o":
		v.anchor, e.at = e.at, min(v.anchor, len(e.text))
	case c.verb == "~":
		v.mode = vimNormal
		e.together(func() {
			for e.moveTo(from); e.at < to && e.at < len(e.text); {
				e.replace(e.at, e.right(), otherCase(e.text[e.at:e.right()]))
			}
		})
		e.moveTo(snap(e, from))
	case c.verb == "J":
		v.mode = vimNormal
		e.together(func() {
			n := strings.Count(e.text[from:to], "\n")
			e.moveTo(from)
			for range max(n, 1) {
				joinLines(e)
			}
		})
	default:
		v.do(e, w, c)
	}
}
