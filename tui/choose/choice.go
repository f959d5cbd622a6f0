package choose

import (
	"adze/internal/safeterm"
	"adze/tui/draw"
)

// Choice is one row of a list to choose from.
type Choice struct {
	ID    string
	Label string
	Note  string
	Find  string // what a filter looks at beside label and note
	Off   string // why it cannot be chosen; empty: it can
}

// Rows draws the h choices around the marked one.
func Rows(t *draw.Theme, items []Choice, at, w, h int) (rows []draw.Row) {
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
func (c Choice) width(t *draw.Theme) int { return t.Line(draw.Plain, safeterm.Name(c.Label)).Width() }

// row draws a choice with its note at column labels.
func (c Choice) row(t *draw.Theme, here bool, labels, w int) draw.Row {
	pen := t.Pen()
	style := draw.Plain
	if c.Off != "" {
		style = draw.Dim
	}
	if here {
		pen.Fixed(draw.Accent, "▸ ")
		style = draw.Bold
	} else {
		pen.Fixed(draw.Plain, "  ")
	}
	label := t.Line(style, safeterm.Name(c.Label)).Fit(labels - 2)
	pen.Row(label).Pad(labels+2).Put(draw.Dim, safeterm.Name(c.Note))
	if c.Off != "" {
		pen.Put(draw.Dim, safeterm.Name("not now: "+c.Off))
	}
	return pen.Done().Fit(w)
}
