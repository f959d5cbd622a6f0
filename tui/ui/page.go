package ui

import "adze/tui/draw"

// Page is something to look at whose rows are drawn when they are needed.
type Page interface {
	// Len is how many rows it takes.
	Len() int
	// Append draws the rows from..to, which are within Len.
	Append(dst []draw.Row, from, to int) []draw.Row
}

// Laid are rows that are there already.
type Laid []draw.Row

// Len implements Page.
func (d Laid) Len() int { return len(d) }

// Append implements Page.
func (d Laid) Append(dst []draw.Row, from, to int) []draw.Row { return append(dst, d[from:to]...) }

// Sheaf is several parts, one below the other.
type Sheaf []Page

// Len implements Page.
func (s Sheaf) Len() int {
	n := 0
	for _, p := range s {
		n += p.Len()
	}
	return n
}

// Append implements Page: only the parts that are seen are drawn.
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
