package tui

import (
	"strings"

	"adze/internal/safeterm"
	"adze/session"
	"adze/tui/draw"
)

// summaryEntry marks where the beginning of the conversation was summed up: what stands above it is not sent any
// more. The summary itself is shown when results are.
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

func (e *summaryEntry) rows(d *drawing, w int) []draw.Row {
	return e.get(d, w, func() []draw.Row {
		lead := d.theme.Pen().Fixed(draw.Border, "── ").Done()
		head := []draw.Span{{Style: draw.Dim, Text: e.head}}
		if !d.expanded {
			head = append(head, draw.Span{Style: draw.Dim, Text: safeterm.Name(" (" + d.expand + " shows the summary)")})
		}
		rows := d.theme.Wrap(nil, w, draw.Margins{First: lead, Rest: d.theme.Pen().Pad(lead.Width()).Done()}, head...)
		if !d.expanded {
			return rows
		}
		gutter := d.theme.Pen().Fixed(draw.Border, "┊ ").Done()
		for _, r := range e.text.Rows(d.theme, w-gutter.Width()) {
			rows = append(rows, d.theme.Pen().Row(gutter).Row(r).Done())
		}
		return rows
	})
}
