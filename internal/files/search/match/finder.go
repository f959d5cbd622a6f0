package match

import (
	"bytes"
	"unicode/utf8"

	"adze/internal/text/kern"
)

// finder finds the offsets at which a match may be: by literals, windows of byte sets or long runs
// of one class, whichever is rarest. It is built once for a pattern.
type finder struct {
	needles []needle // by alternative; none for classes, which only select lines to test
	pair    kern.Pair
	window  *kern.Window // for several literals, or for classes
	class   *kern.Class  // for runs
	least   int          // minimum run length

	literalIsMatch bool // a literal between its edges is a match
	left, right    edge // required neighbors if whole
}

// edge is a condition on a literal's neighbor.
type edge uint8

const (
	edgeAny      edge = iota
	edgeBoundary      // \b
	edgeOutside       // not part of a word
	edgeLine          // line start or end
)

type needle struct {
	text []byte // in lower case if fold
	fold bool
	back int // the window's offset in text
}

func newFinder(alts []literal) *finder {
	f := &finder{}
	for _, alt := range alts {
		f.needles = append(f.needles, needle{text: []byte(alt.text), fold: alt.fold})
	}
	if len(alts) == 1 {
		f.pair = f.needles[0].pair()
		return f
	}
	f.window = &kern.Window{}
	for k := range f.needles {
		f.needles[k].addTo(f.window, k%maxAlternatives)
	}
	return f
}

// alone reports that every occurrence is a match, so no line has to be tested.
func (f *finder) alone() bool { return f.literalIsMatch && f.left == edgeAny && f.right == edgeAny }

// pair selects the two rarest bytes, the rarer first.
func (n *needle) pair() kern.Pair {
	first, second := n.rarest(-1), 0
	if len(n.text) > 1 {
		second = n.rarest(first)
	}
	p := kern.Pair{Bytes: [2]byte{n.text[first], n.text[second]}, Distances: [2]int{first, second}}
	for k, b := range p.Bytes {
		if n.fold && upper(b) != b {
			p.Masks[k] = 'a' - 'A'
		}
	}
	return p
}

// rarest returns the offset of the rarest byte other than the one at not, preferring a byte with
// another value.
func (n *needle) rarest(not int) int {
	best, odds := 0, 2.0
	for i, b := range n.text {
		if i == not {
			continue
		}
		o := oddsOf(b, n.fold)
		if not >= 0 && b == n.text[not] {
			o++
		}
		if o < odds {
			best, odds = i, o
		}
	}
	return best
}

// addTo adds the rarest three consecutive bytes to a window as an alternative; a shorter literal
// leaves the rest open.
func (n *needle) addTo(w *kern.Window, alternative int) {
	best := 2.0
	for i := 0; i == 0 || i+3 <= len(n.text); i++ {
		odds := 1.0
		for _, b := range n.text[i:min(i+3, len(n.text))] {
			odds *= oddsOf(b, n.fold)
		}
		if odds < best {
			n.back, best = i, odds
		}
	}
	for position := range 3 {
		if n.back+position >= len(n.text) {
			w.Any(alternative, position)
			continue
		}
		b := n.text[n.back+position]
		w.Add(alternative, position, b)
		if n.fold {
			w.Add(alternative, position, upper(b))
		}
	}
}

// find writes the next candidate offsets at or after from.
func (f *finder) find(text []byte, from int, runs *kern.Runs, places []uint32) (n, next int) {
	switch {
	case f.window != nil:
		return f.window.Find(text, from, places)
	case f.class != nil:
		return runs.Find(text, from, places)
	}
	return f.pair.Find(text, from, places)
}

// verdict is the result of checking a candidate.
type verdict uint8

const (
	noMatch verdict = iota
	perhaps         // the line has to be tested
	certain         // the line matches
)

func (f *finder) judge(text []byte, at int) verdict {
	switch {
	case len(f.needles) == 0:
		return perhaps
	case f.window == nil:
		return f.needles[0].judge(f, text, at)
	}
	best := noMatch
	which := f.window.At(text, at)
	for k := range f.needles {
		if which&(1<<(k%maxAlternatives)) != 0 {
			best = max(best, f.needles[k].judge(f, text, at-f.needles[k].back))
		}
	}
	return best
}

// judge compares the literal with the text and, if it is whole, checks its edges.
func (n *needle) judge(f *finder, text []byte, at int) verdict {
	end := at + len(n.text)
	if at < 0 || end > len(text) || !n.equal(text[at:end]) {
		return noMatch
	}
	if !f.literalIsMatch {
		return perhaps
	}
	return min(f.left.holds(text, at-1, text[at]), f.right.holds(text, end, text[end-1]))
}

// holds checks an edge. beside is the offset next to the literal, own the literal's byte on that
// side. It returns perhaps for non-ASCII bytes, which need the whole line.
func (e edge) holds(text []byte, beside int, own byte) verdict {
	switch e {
	case edgeAny:
		return certain
	case edgeLine:
		return lineEnds(text, beside)
	}
	word := false // a text or line end is not a word character
	if beside >= 0 && beside < len(text) {
		b := text[beside]
		if b >= utf8.RuneSelf {
			return perhaps
		}
		word = isWord(rune(b))
	}
	if own >= utf8.RuneSelf {
		return perhaps
	}
	if e == edgeOutside && !word || e == edgeBoundary && word != isWord(rune(own)) {
		return certain
	}
	return noMatch
}

// lineEnds checks for a line end beside a literal. It returns perhaps for \r, which may belong to
// the line end.
func lineEnds(text []byte, beside int) verdict {
	switch {
	case beside < 0 || beside >= len(text) || text[beside] == '\n':
		return certain
	case text[beside] == '\r':
		return perhaps
	}
	return noMatch
}

func (n *needle) equal(text []byte) bool {
	if !n.fold {
		return string(text) == string(n.text)
	}
	for i, b := range text {
		if b != n.text[i] && (b < 'A' || b > 'Z' || b+'a'-'A' != n.text[i]) {
			return false
		}
	}
	return true
}

// first returns the offset where a single literal first occurs, or -1.
func (f *finder) first(text []byte) int {
	n := &f.needles[0]
	if !n.fold {
		return bytes.Index(text, n.text)
	}
	var places [32]uint32
	for from := 0; from < len(text); {
		var found int
		found, from = f.pair.Find(text, from, places[:])
		for _, at := range places[:found] {
			if end := int(at) + len(n.text); end <= len(text) && n.equal(text[at:end]) {
				return int(at)
			}
		}
	}
	return -1
}

// placeScanner iterates over a text's candidates in order, fetching many at a time. It is used by
// one worker.
type placeScanner struct {
	finder   *finder
	runs     kern.Runs
	places   [kern.Batch]uint32
	at, n    int // next index and count of places
	searched int // the text before this offset was searched
}

func newSighting(f *finder) *placeScanner {
	s := &placeScanner{finder: f}
	if f != nil && f.class != nil {
		s.runs.Class, s.runs.Min = f.class, f.least
	}
	return s
}

func (s *placeScanner) reset() { s.at, s.n, s.searched = 0, 0, 0 }

// next returns the first candidate at or after from and its verdict, or -1.
func (s *placeScanner) next(text []byte, from int) (int, verdict) {
	for {
		for ; s.at < s.n; s.at++ {
			at := int(s.places[s.at])
			if at < from {
				continue
			}
			if v := s.finder.judge(text, at); v != noMatch {
				return at, v
			}
		}
		if s.searched >= len(text) {
			return -1, noMatch
		}
		s.at = 0
		s.n, s.searched = s.finder.find(text, max(from, s.searched), &s.runs, s.places[:])
	}
}
