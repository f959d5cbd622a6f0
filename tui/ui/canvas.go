package ui

import (
	"adze/internal/text/safeterm"
	"adze/tui/draw"
)

// Rect is a rectangle on the screen, in cells from the top left.
type Rect struct{ X, Y, W, H int }

// NewRect returns a rectangle by its left column, top row, width and height.
func NewRect(x, y, w, h int) Rect { return Rect{x, y, w, h} }

// Canvas is the screen while it is drawn, from left to right.
type Canvas struct {
	Rows  []draw.Row
	Theme *draw.Theme
}

// Put draws rows into a rectangle and truncates them to it.
func (c *Canvas) Put(r Rect, rows []draw.Row) {
	for i, row := range rows {
		if i >= r.H || r.Y+i >= len(c.Rows) {
			return
		}
		at := &c.Rows[r.Y+i]
		row = row.Fit(r.W)
		if r.X == 0 {
			*at = row
			continue
		}
		*at = c.Theme.Pen().Row(*at).Pad(r.X).Row(row).Done()
	}
}

// Divide draws a vertical line.
func (c *Canvas) Divide(r Rect) {
	for i := range r.H {
		at := &c.Rows[r.Y+i]
		*at = c.Theme.Pen().Row(*at).Pad(r.X).Fixed(draw.Border, "│").Done()
	}
}

// Title returns a pane's title row.
func Title(t *draw.Theme, w int, text string) draw.Row {
	return t.Pen().Fixed(draw.Border, "── ").Put(draw.Dim, safeterm.Name(text)).Fixed(draw.Plain, " ").
		Rule(draw.Border, w).Done().Fit(w)
}
