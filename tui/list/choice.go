package list

import (
	"strings"

	"adze/internal/text/safeterm"
	"adze/tui/draw"
)

// Choice is a list row.
type Choice struct {
	ID             string
	Label          string
	Note           string
	Find           string // more text for the filter
	DisabledReason string // why it cannot be chosen, or ""
	Ended          bool   // it has already ended
}

// Rows draws h rows of choices around the selected one.
func Rows(t *draw.Theme, items []Choice, at, w, h int) []draw.Row {
	widest := 0
	for _, c := range items {
		widest = max(widest, c.width(t))
	}
	return window(t, items, at, labelWidth(widest, w), w, h)
}

// window draws the choices around the selected one, which wraps and is never truncated.
func window(t *draw.Theme, items []Choice, at, labels, w, h int) (rows []draw.Row) {
	if len(items) == 0 {
		return nil
	}
	here := items[at].whole(t, labels, w)
	here = here[:min(len(here), max(h, 1))]
	room := max(h-len(here)+1, 1)
	top := max(min(at-room/2, len(items)-room), 0)
	for i := top; i < min(top+room, len(items)); i++ {
		if i == at {
			rows = append(rows, here...)
		} else {
			rows = append(rows, items[i].row(t, false, labels, w).Fit(w))
		}
	}
	return rows
}

// labelWidth returns the column for notes.
func labelWidth(widest, w int) int { return min(widest, w/2) + 2 }

// width returns the label's width.
func (c Choice) width(t *draw.Theme) int { return t.Line(draw.Plain, safeterm.Name(c.Label)).Width() }

// row draws a choice with its note at column labels.
func (c Choice) row(t *draw.Theme, here bool, labels, w int) draw.Row {
	pen := t.Pen()
	style := draw.Plain
	if c.DisabledReason != "" {
		style = draw.Dim
	}
	if here {
		pen.Fixed(draw.Accent, "▸ ")
		style = draw.Bold
	} else {
		pen.Fixed(draw.Plain, "  ")
	}
	label := t.Line(style, safeterm.Name(c.Label)).Fit(labels - 2)
	return pen.Row(label).Pad(labels+2).Put(draw.Dim, safeterm.Name(c.says())).Done()
}

// says returns the text beside the label.
func (c Choice) says() string {
	if c.DisabledReason != "" {
		return c.Note + "not now: " + c.DisabledReason
	}
	return c.Note
}

// whole draws the selected choice; it wraps if it does not fit.
func (c Choice) whole(t *draw.Theme, labels, w int) []draw.Row {
	row := c.row(t, true, labels, w)
	cut := c.width(t) > labels-2
	if row.Width() <= w && !cut {
		return []draw.Row{row}
	}
	first := t.Pen().Fixed(draw.Accent, "▸ ").Done()
	margins := draw.Margins{First: first, Continuation: t.Pen().Pad(4).Done()}
	spans := []draw.Span{{Style: draw.Bold, Text: safeterm.Name(c.Label)}}
	if note := strings.Join(strings.Fields(c.says()), " "); note != "" {
		spans = append(spans, draw.Span{Style: draw.Dim, Text: safeterm.Name("  " + note)})
	}
	return t.Wrap(nil, w, margins, spans...)
}
