package vim

import (
	"strings"

	"adze/tui/edit"
)

// Chosen is the text that visual mode covers.
func (v *Keys) Chosen(e *edit.Editor) (from, to int, ok bool) {
	if !v.On || v.mode != visual && v.mode != wholeLines {
		return 0, 0, false
	}
	last := e.CopyAt(min(max(v.anchor, e.At), len(e.Text)))
	from, to = min(v.anchor, e.At, len(e.Text)), last.Right()
	if v.mode == wholeLines {
		first := edit.New(e.Text, from)
		return first.LineStart(), last.LineEnd(), true
	}
	return from, to, true
}

// visual is a command of visual mode.
func (v *Keys) visual(e *edit.Editor, w int, c command) {
	from, to, _ := v.Chosen(e)
	lines := v.mode == wholeLines
	op := map[string]string{"d": "d", "x": "d", "c": "c", "s": "c", "y": "y"}[c.verb]
	switch {
	case c.object != "":
		if from, to, ok := object(e, c); ok {
			last := e.CopyAt(snap(e, to))
			v.anchor = snap(e, from)
			e.MoveTo(last.Left())
		}
	case op != "":
		v.mode = normal
		e.Together(func() { v.operate(e, op, from, to, lines) })
	case c.verb == "v" || c.verb == "V":
		v.mode = normal
	case c.verb == "o":
		v.anchor, e.At = e.At, min(v.anchor, len(e.Text))
	case c.verb == "~":
		v.mode = normal
		e.Together(func() {
			for e.MoveTo(from); e.At < to && e.At < len(e.Text); {
				e.Replace(e.At, e.Right(), otherCase(e.Text[e.At:e.Right()]))
			}
		})
		e.MoveTo(snap(e, from))
	case c.verb == "J":
		v.mode = normal
		e.Together(func() {
			n := strings.Count(e.Text[from:to], "\n")
			e.MoveTo(from)
			for range max(n, 1) {
				joinLines(e)
			}
		})
	default:
		v.do(e, w, c)
	}
}
