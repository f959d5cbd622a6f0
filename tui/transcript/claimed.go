package transcript

import (
	"adze/session"
	"adze/tui/draw"
	"adze/tui/ui"
)

// claimed marks the last answer's clauses with evidence and contradictions from its calls.
// Contradictions also get a line below.
func (t *Pane) claimed(e session.Claimed) {
	var marks []draw.Remark
	for _, c := range e.Claims {
		marks = append(marks, draw.Remark{Quote: c.Quote, Style: draw.Warn, Text: ui.Shorten(c.Mark())})
	}
	for _, s := range e.Evidence {
		marks = append(marks, draw.Remark{Quote: s.Quote, Style: draw.Dim, Text: ui.Shorten(s.Mark())})
	}
	if p := t.lastAnswer(); p != nil && p.done && !p.written {
		marks = p.Remark(marks)
	}
	for _, c := range e.Claims {
		t.note(draw.Warn, c.String())
	}
	for _, m := range marks {
		if m.Style == draw.Dim { // its clause was not found
			t.note(draw.Dim, m.Text+" (“"+m.Quote+"”)")
		}
	}
	if len(e.Claims) > 0 {
		t.note(draw.Dim, "/claims tells the model")
	}
}

// lastAnswer returns the model's latest text, or nil.
func (t *Pane) lastAnswer() *proseEntry {
	for i := len(t.entries) - 1; i >= 0; i-- {
		if p, ok := t.entries[i].(*proseEntry); ok && !p.reasoning && p.Len() > 0 {
			return p
		}
	}
	return nil
}
