package kern

// Window looks for three bytes in a row, each from a set of its own, for up to eight alternatives
// at once. Bit k of a table belongs to alternative k. A byte is in a set if its lower and its upper
// four bits are both in the tables, which is exact for one byte or a letter in both cases and too
// much for other sets: a window names more places than there are, never fewer. The assembly knows
// the layout.
type Window struct {
	Low, High [3][16]byte
	Plain     bool // use the twin
}

// span is how many bytes a window has.
const span = 3

// Add puts a byte into the set of an alternative at one of the three positions.
func (w *Window) Add(alternative, position int, b byte) {
	w.Low[position][b&15] |= 1 << alternative
	w.High[position][b>>4] |= 1 << alternative
}

// Any lets an alternative take every byte at a position, and the end of the text, too.
func (w *Window) Any(alternative, position int) {
	for k := range 16 {
		w.Low[position][k] |= 1 << alternative
		w.High[position][k] |= 1 << alternative
	}
}

// At returns which alternatives a place is a candidate for, a bit for each.
func (w *Window) At(text []byte, at int) byte {
	all := byte(0xff)
	for position := range span {
		if at+position < len(text) {
			b := text[at+position]
			all &= w.Low[position][b&15] & w.High[position][b>>4]
		} else {
			all &= w.any(position)
		}
	}
	return all
}

// any returns the alternatives that take every byte at a position.
func (w *Window) any(position int) byte {
	all := byte(0xff)
	for k := range 16 {
		all &= w.Low[position][k] & w.High[position][k]
	}
	return all
}

// Find writes the next places at or after from into places, which has room for width of them at
// least, and returns how many, and from where to search on.
func (w *Window) Find(text []byte, from int, places []uint32) (n, next int) {
	limit := len(text) - span + 1
	if vectors && !w.Plain && from < limit && len(places) >= width {
		if to := upTo(text, from, limit, span); to > from {
			n, next = window(&text[0], from, to, w, &places[0], len(places))
			n = within(places[:n], limit)
			return n, min(next, limit)
		}
	}
	return w.twin(text, from, places)
}

// twin does the same byte by byte, and alone tests the last places.
func (w *Window) twin(text []byte, from int, places []uint32) (n, next int) {
	low, high := &w.Low, &w.High
	for ; from+span <= len(text) && n < len(places); from++ {
		a, b, c := text[from], text[from+1], text[from+2]
		if low[0][a&15]&high[0][a>>4]&low[1][b&15]&high[1][b>>4]&low[2][c&15]&high[2][c>>4] != 0 {
			places[n] = uint32(from)
			n++
		}
	}
	for ; from < len(text) && n < len(places); from++ {
		if w.At(text, from) != 0 {
			places[n] = uint32(from)
			n++
		}
	}
	return n, from
}
