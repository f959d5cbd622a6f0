package tui

import "adze/tui/draw"

// page is something to look at whose rows are drawn when they are needed.
type page interface {
	// Len is how many rows it takes.
	Len() int
	// Append draws the rows from..to, which are within Len.
	Append(dst []draw.Row, from, to int) []draw.Row
}

// laidRows are rows that are there already.
type laidRows []draw.Row

func (d laidRows) Len() int { return len(d) }

func (d laidRows) Append(dst []draw.Row, from, to int) []draw.Row { return append(dst, d[from:to]...) }

// sheaf is several parts, one below the other.
type sheaf []page

func (s sheaf) Len() int {
	n := 0
	for _, p := range s {
		n += p.Len()
	}
	return n
}

func (s sheaf) Append(dst []draw.Row, from, to int) []draw.Row {
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
