package kern

import "bytes"

// Pair finds two bytes at fixed distances; for a literal, its two rarest. A mask of 0x20 with a
// lower-case byte matches a letter in both cases; otherwise the mask is 0. The assembly depends on
// the layout.
type Pair struct {
	Bytes     [2]byte
	Masks     [2]byte
	Distances [2]int // distances, not negative
	Plain     bool   // use the Go version
}

// Find writes the next places at or after from into places, which must have room for width of them.
// It returns their number and the offset to continue at. Both bytes of a match lie in text.
func (p *Pair) Find(text []byte, from int, places []uint32) (n, next int) {
	far := max(p.Distances[0], p.Distances[1])
	limit := len(text) - far
	if from >= limit {
		return 0, max(from, len(text))
	}
	if vectors && !p.Plain && len(places) >= width {
		if to := upTo(text, from, limit, far+1); to > from {
			n, next = pair(&text[0], from, to, p, &places[0], len(places))
			n = within(places[:n], limit)
			return n, p.end(next, limit, len(text))
		}
	}
	n, next = p.twin(text, from, limit, places)
	return n, p.end(next, limit, len(text))
}

// end returns the offset to continue at: the text's end if no place can follow.
func (p *Pair) end(next, limit, end int) int {
	if next >= limit {
		return end
	}
	return next
}

// twin searches for the first byte, the rarer one, and tests the other.
func (p *Pair) twin(text []byte, from, limit int, places []uint32) (n, next int) {
	for n < len(places) && from < limit {
		at := from
		if p.Masks[0] == 0 {
			k := bytes.IndexByte(text[from+p.Distances[0]:limit+p.Distances[0]], p.Bytes[0])
			if k < 0 {
				return n, limit
			}
			at += k
		}
		if text[at+p.Distances[0]]|p.Masks[0] == p.Bytes[0] && text[at+p.Distances[1]]|p.Masks[1] == p.Bytes[1] {
			places[n] = uint32(at)
			n++
		}
		from = at + 1
	}
	return n, from
}
