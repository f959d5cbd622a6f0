package ui

import "adze/tui/draw"

// Page has rows that are drawn on demand.
type Page interface {
	// Len returns the number of rows.
	Len() int
	// Append draws rows from..to, which must be within Len.
	Append(dst []draw.Row, from, to int) []draw.Row
}

// RenderedPage is a page with finished rows.
type RenderedPage []draw.Row

// Len implements Page.
func (d RenderedPage) Len() int { return len(d) }

// Append implements Page.
func (d RenderedPage) Append(dst []draw.Row, from, to int) []draw.Row {
	return append(dst, d[from:to]...)
}

// Sheaf is a page with several parts, from top to bottom.
type Sheaf []Page

// Len implements Page.
func (s Sheaf) Len() int {
	n := 0
	for _, p := range s {
		n += p.Len()
	}
	return n
}

// Append implements Page. It draws only the requested parts.
func (s Sheaf) Append(dst []draw.Row, from, to int) []draw.Row {
	start := 0
	for _, p := range s {
		n := p.Len()
		if lo, hi := max(from-start, 0), min(to-start, n); lo < hi {
			dst = p.Append(dst, lo, hi)
		}
		start += n
	}
	return dst
}
