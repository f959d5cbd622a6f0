package permission

import (
	"strings"

	"adze/internal/stream/ask"
	"adze/internal/text/safeterm"
	"adze/tui/draw"
	"adze/tui/edit"
	"adze/tui/ui"
)

// Edits reports whether the call has a text that the user may rewrite before it runs.
func (p *Dialog) Edits() bool { return p.Open() && p.queue[0].Question.Editing != nil }

// Change opens that text, or goes back to the question; what was written stays until the question
// is answered. It begins as the question shows it: hidden characters are written out, so that what
// is seen is what runs.
func (p *Dialog) Change(on bool) {
	if !on {
		p.goTo(AtQuestion)
		return
	}
	if p.begun = begin(p.queue[0].Question.Editing.Text); p.Text.Empty() {
		p.Text = edit.New(p.begun, len(p.begun))
	}
	p.goTo(AtText)
}

// begin is a text as a user begins to rewrite it.
func begin(text string) string {
	return safeterm.Clean(safeterm.Reveal(strings.TrimRight(text, "\n")).String()).String()
}

// TextWidth is how wide the text was drawn, in cells.
func (p *Dialog) TextWidth() int { return max(p.textWidth, 1) }

// Changed allows the call with the text as it now is; one that was not changed is the call as it
// was made.
func (p *Dialog) Changed() {
	a := ask.Answer{Choice: ask.Once}
	if p.Text.Text != p.begun {
		a.Text = p.Text.Text
	}
	p.Answer(a)
}

// Blank says why the text cannot be taken; if empty, it can.
func (p *Dialog) Blank() string {
	return ui.Why(strings.TrimSpace(p.Text.Text) == "", "the "+p.queue[0].Question.Editing.Name+" is empty: write one, or go back and say no")
}

// rewriting draws the text around its cursor, and the keys.
func (p *Dialog) rewriting(rows []draw.Row, w, h int) ([]draw.Row, int, int) {
	p.textWidth = max(w-1, 1)
	all, x, y := p.Text.Rows(p.theme, w)
	foot := p.choices(w)
	room := max(h-2-len(foot), 1)
	from := max(min(y-room/2, len(all)-room), 0)
	to := min(from+room, len(all))
	lead := "edit the " + p.queue[0].Question.Editing.Name
	if p.begun != strings.TrimRight(p.queue[0].Question.Editing.Text, "\n") {
		lead = "edit it; hidden characters are written out"
	}
	if to-from < len(all) {
		lead = ui.RowsOf(from, to, len(all)) + " · " + lead
	}
	rows = append(rows, p.theme.Line(draw.Dim, safeterm.Name(lead)).Fit(w))
	rows = append(rows, all[from:to]...)
	return append(rows, foot...), x, 2 + y - from
}
