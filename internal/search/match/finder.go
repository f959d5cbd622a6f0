package match

import "bytes"

// finder looks for the first of several literals.
type finder struct {
	needles []needle
}

// needle is one literal, prepared.
type needle struct {
	text     []byte // in lower case where fold
	fold     bool
	rare     int  // offset of the byte that is looked for first, where fold
	low, upp byte // that byte in both cases
}

func newFinder(alts []literal) *finder {
	f := &finder{}
	for _, alt := range alts {
		n := needle{text: []byte(alt.text), fold: alt.fold}
		for i, b := range n.text {
			if byteRarity(b) > byteRarity(n.text[n.rare]) {
				n.rare = i
			}
		}
		n.low, n.upp = n.text[n.rare], upper(n.text[n.rare])
		f.needles = append(f.needles, n)
	}
	return f
}

func upper(b byte) byte {
	if b >= 'a' && b <= 'z' {
		return b - 'a' + 'A'
	}
	return b
}

// sighting remembers where each needle occurs next, so that a frequent one does not make a rare one
// be looked for again and again. It belongs to one text.
type sighting struct {
	finder *finder
	at     []place
}

// place is what is known about one needle: its next occurrence, or the end of the text; and, where
// case is ignored, the next of each case of its rare byte.
type place struct {
	next     int
	low, upp int
}

// reset starts a new text.
func (s *sighting) reset() {
	s.at = s.at[:0]
	for range s.finder.needles {
		s.at = append(s.at, place{next: -1, low: -1, upp: -1})
	}
}

// next returns the first place at or after from where one of the needles begins, or -1.
func (s *sighting) next(text []byte, from int) int {
	best := len(text)
	for i := range s.at {
		p := &s.at[i]
		if p.next < from {
			p.next = s.finder.needles[i].index(text, from, p)
		}
		best = min(best, p.next)
	}
	if best == len(text) {
		return -1
	}
	return best
}

// index returns the first occurrence at or after from, or len(text).
func (n *needle) index(text []byte, from int, p *place) int {
	if n.fold {
		return n.indexFold(text, from, p)
	}
	at := bytes.Index(text[from:], n.text)
	if at < 0 {
		return len(text)
	}
	return from + at
}

func (n *needle) indexFold(text []byte, from int, p *place) int {
	for from+len(n.text) <= len(text) {
		p.low = nextByte(text, n.low, from+n.rare, p.low)
		if n.low == n.upp {
			p.upp = len(text)
		} else {
			p.upp = nextByte(text, n.upp, from+n.rare, p.upp)
		}
		at := min(p.low, p.upp) - n.rare
		if at+len(n.text) > len(text) {
			break
		}
		if n.equalFold(text[at : at+len(n.text)]) {
			return at
		}
		from = at + 1
	}
	return len(text)
}

// nextByte returns the first b at or after from, or len(text); known is an earlier answer.
func nextByte(text []byte, b byte, from, known int) int {
	if known >= from {
		return known
	}
	at := bytes.IndexByte(text[from:], b)
	if at < 0 {
		return len(text)
	}
	return from + at
}

func (n *needle) equalFold(text []byte) bool {
	for i, b := range text {
		if b != n.text[i] && (b < 'A' || b > 'Z' || b+'a'-'A' != n.text[i]) {
			return false
		}
	}
	return true
}
