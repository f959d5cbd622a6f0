package tui

import (
	"adze/internal/safeterm"
	"adze/tui/draw"
)

// Rect is a place on the screen, in cells from the top left.
type Rect struct{ X, Y, W, H int }

// canvas is the screen while it is drawn, from left to right.
type canvas struct {
	rows  []draw.Row
	theme *draw.Theme
}

// put draws rows into a rectangle; what does not fit is cut.
func (c *canvas) put(r Rect, rows []draw.Row) {
	for i, row := range rows {
		if i >= r.H || r.Y+i >= len(c.rows) {
			return
		}
		at := &c.rows[r.Y+i]
		row = row.Fit(r.W)
		if r.X == 0 {
			*at = row
			continue
		}
		*at = c.theme.Pen().Row(*at).Pad(r.X).Row(row).Done()
	}
}

// divide draws a vertical line.
func (c *canvas) divide(r Rect) {
	for i := range r.H {
		at := &c.rows[r.Y+i]
		*at = c.theme.Pen().Row(*at).Pad(r.X).Fixed(draw.Border, "│").Done()
	}
}

// title is the first row of a pane.
func title(t *draw.Theme, w int, text string) draw.Row {
	return t.Pen().Fixed(draw.Border, "── ").Put(draw.Dim, safeterm.Name(text)).Fixed(draw.Plain, " ").
		Rule(draw.Border, w).Done().Fit(w)
}
