package kern

// Window finds three consecutive bytes from three sets, for up to eight alternatives at once. Bit k
// in a table belongs to alternative k. A byte matches if both its nibbles are in the tables. That
// is exact for a single byte or a letter in both cases and too broad for other sets: a window
// returns extra places but omits none. The assembly depends on the layout.
type Window struct {
	Low, High [3][16]byte
	Plain     bool // use the Go version
}

const span = 3

// Add adds a byte to an alternative's set at one of the three positions.
func (w *Window) Add(alternative, position int, b byte) {
	w.Low[position][b&15] |= 1 << alternative
	w.High[position][b>>4] |= 1 << alternative
}

// Any lets an alternative match every byte at a position, and the text's end too.
func (w *Window) Any(alternative, position int) {
	for k := range 16 {
		w.Low[position][k] |= 1 << alternative
		w.High[position][k] |= 1 << alternative
	}
}

// At returns the alternatives that match at a place, a bit for each.
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

func (w *Window) any(position int) byte {
	all := byte(0xff)
	for k := range 16 {
		all &= w.Low[position][k] & w.High[position][k]
	}
	return all
}

// Find writes the next places at or after from into places, which must have room for width of them.
// It returns their number and the offset to continue at.
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

// twin searches byte by byte; only it tests the last places.
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
