package permission

import (
	"strings"

	"adze/internal/stream/ask"
	"adze/internal/text/safeterm"
	"adze/tui/draw"
	"adze/tui/edit"
	"adze/tui/ui"
)

// Edits reports whether the user may edit the call's text before it runs.
func (p *Dialog) Edits() bool { return p.Open() && p.queue[0].Question.Editing != nil }

// Change opens that text, or returns to the question; edits stay until the question is answered.
// Hidden characters are written out, so that the visible text is what runs.
func (p *Dialog) Change(on bool) {
	if !on {
		p.goTo(AtQuestion)
		return
	}
	if p.initialText = begin(p.queue[0].Question.Editing.Text); p.Text.Empty() {
		p.Text = edit.New(p.initialText, len(p.initialText))
	}
	p.goTo(AtText)
}

// begin returns text prepared for editing.
func begin(text string) string {
	return safeterm.Clean(safeterm.Reveal(strings.TrimRight(text, "\n")).String()).String()
}

// TextWidth returns the drawn text's width, in cells.
func (p *Dialog) TextWidth() int { return max(p.textWidth, 1) }

// Changed allows the call with the edited text; an unedited text allows the original call.
func (p *Dialog) Changed() {
	a := ask.Answer{Choice: ask.Once}
	if p.Text.Text != p.initialText {
		a.Text = p.Text.Text
	}
	p.Answer(a)
}

// Blank returns why the text cannot be used, or "".
func (p *Dialog) Blank() string {
	return ui.ReasonIf(strings.TrimSpace(p.Text.Text) == "", "the "+p.queue[0].Question.Editing.Name+" is empty: write one, or go back and say no")
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
	if p.initialText != strings.TrimRight(p.queue[0].Question.Editing.Text, "\n") {
		lead = "edit it; hidden characters are written out"
	}
	if to-from < len(all) {
		lead = ui.RowsOf(from, to, len(all)) + " · " + lead
	}
	rows = append(rows, p.theme.Line(draw.Dim, safeterm.Name(lead)).Fit(w))
	rows = append(rows, all[from:to]...)
	return append(rows, foot...), x, 2 + y - from
}
