package transcript

import (
	"strings"

	"adze/internal/text/safeterm"
	"adze/session"
	"adze/tui/draw"
	"adze/tui/ui"
)

// summaryEntry marks a compaction: the model no longer receives the messages above. Expanded, it
// shows the summary.
type summaryEntry struct {
	laidOut
	head safeterm.Text
	text draw.Prose
}

func newSummary(m session.Message, head string) *summaryEntry {
	e := &summaryEntry{head: safeterm.Name(head)}
	e.text.Add(strings.TrimSpace(m.Text()))
	e.text.End()
	return e
}

func (e *summaryEntry) tight() bool { return false }

func (e *summaryEntry) forget() {
	e.laidOut.forget()
	e.text.Forget()
}

func (e *summaryEntry) rows(d *ui.Drawing, w int) []draw.Row {
	return e.get(d, w, func() []draw.Row {
		lead := d.Theme.Pen().Fixed(draw.Border, "── ").Done()
		head := []draw.Span{{Style: draw.Dim, Text: e.head}}
		if !d.Expanded {
			head = append(head, draw.Span{Style: draw.Dim, Text: safeterm.Name(" (" + d.Expand + " shows the summary)")})
		}
		rows := d.Theme.Wrap(nil, w, draw.Margins{First: lead, Continuation: d.Theme.Pen().Pad(lead.Width()).Done()}, head...)
		if !d.Expanded {
			return rows
		}
		gutter := d.Theme.Pen().Fixed(draw.Border, "┊ ").Done()
		for _, r := range e.text.Rows(d.Theme, w-gutter.Width()) {
			rows = append(rows, d.Theme.Pen().Row(gutter).Row(r).Done())
		}
		return rows
	})
}
