package tui

import (
	"adze/internal/safeterm"
	"adze/tui/draw"
)

// choice is one row of a list to choose from.
type choice struct {
	id    string
	label string
	note  string
	find  string // what a filter looks at beside label and note
	off   string // why it cannot be chosen; empty: it can
}

// choiceRows draws the h choices around the marked one.
func choiceRows(t *draw.Theme, items []choice, at, w, h int) (rows []draw.Row) {
	widest := 0
	for _, c := range items {
		widest = max(widest, c.width(t))
	}
	labels := labelWidth(widest, w)
	top := max(min(at-h/2, len(items)-h), 0)
	for i := top; i < min(top+h, len(items)); i++ {
		rows = append(rows, items[i].row(t, i == at, labels, w))
	}
	return rows
}

// labelWidth is the column where notes begin.
func labelWidth(widest, w int) int { return min(widest, w/2) + 2 }

// width is that of the label.
func (c choice) width(t *draw.Theme) int { return t.Line(draw.Plain, safeterm.Name(c.label)).Width() }

// row draws a choice with its note at column labels.
func (c choice) row(t *draw.Theme, here bool, labels, w int) draw.Row {
	pen := t.Pen()
	style := draw.Plain
	if c.off != "" {
		style = draw.Dim
	}
	if here {
		pen.Fixed(draw.Accent, "▸ ")
		style = draw.Bold
	} else {
		pen.Fixed(draw.Plain, "  ")
	}
	label := t.Line(style, safeterm.Name(c.label)).Fit(labels - 2)
	pen.Row(label).Pad(labels+2).Put(draw.Dim, safeterm.Name(c.note))
	if c.off != "" {
		pen.Put(draw.Dim, safeterm.Name("not now: "+c.off))
	}
	return pen.Done().Fit(w)
}
