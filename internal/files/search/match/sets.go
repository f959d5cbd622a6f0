package match

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

func (g *gatherer) rune(r rune, fold bool) {
	runes := []rune{r, r}
	if fold {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			runes = append(runes, f, f)
		}
	}
	if len(runes) == 2 && r >= utf8.RuneSelf && r != utf8.RuneError {
		for _, b := range []byte(string(r)) {
			var s byteSet
			s.add(b)
			g.addSet(s)
		}
		return
	}
	g.class(runes)
}

// class adds a character of a class, given as pairs of first and last. A multi-byte character ends
// a row with its first byte and begins the next with its last; if it may also be ASCII, the rows
// also continue through it.
func (g *gatherer) class(ranges []rune) {
	ascii, wide := setOf(ranges)
	if !wide {
		g.addSet(ascii)
		return
	}
	before := slices.Clone(g.rows)
	first, last := ascii, byteSet{}
	for i := 0; i+1 < len(ranges); i += 2 {
		if lo, hi := max(ranges[i], utf8.RuneSelf), ranges[i+1]; lo <= hi {
			addEnds(&first, &last, lo, hi)
		}
	}
	g.addSet(first)
	g.part()
	if ascii == (byteSet{}) {
		g.addSet(last)
		return
	}
	beyond := row{{last, last.share()}}
	if g.rows = before; len(before) >= maxAlternatives || longest(before) == 0 {
		// No rows before it, or too many: start with one.
		g.rows = []row{nil}
		for b := range last {
			last[b] |= ascii[b]
		}
		g.addSet(last)
		return
	}
	g.extend(ascii)
	g.rows = distinct(append(g.rows, beyond))
	g.weigh()
}

// addEnds adds the first and last bytes for the characters lo to hi. U+FFFD also stands for every
// invalid byte.
func addEnds(first, last *byteSet, lo, hi rune) {
	if lo <= utf8.RuneError && hi >= utf8.RuneError {
		first.addRange(utf8.RuneSelf, 0xff)
		last.addRange(utf8.RuneSelf, 0xff)
		return
	}
	// Text contains no surrogate halves.
	if lo >= 0xd800 && lo < 0xe000 {
		lo = 0xe000
	}
	if hi >= 0xd800 && hi < 0xe000 {
		hi = 0xd7ff
	}
	if lo > hi {
		return
	}
	from, to := string(lo), string(hi)
	first.addRange(from[0], to[0])
	if hi-lo >= 0x40 || from[len(from)-1] > to[len(to)-1] {
		last.addRange(0x80, 0xbf)
		return
	}
	last.addRange(from[len(from)-1], to[len(to)-1])
}

// setOf returns a class's ASCII part and whether it has other characters.
func setOf(ranges []rune) (set byteSet, wide bool) {
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i] < utf8.RuneSelf {
			set.addRange(byte(ranges[i]), byte(min(ranges[i+1], utf8.RuneSelf-1)))
		}
		wide = wide || ranges[i+1] >= utf8.RuneSelf
	}
	return set, wide
}

// runOf returns the longest run of one class in every match, in characters, which have at least one
// byte each.
func runOf(re *syntax.Regexp) (set byteSet, wide bool, least int) {
	switch re.Op {
	case syntax.OpCapture:
		return runOf(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if s, w, n := runOf(sub); n > least {
				set, wide, least = s, w, n
			}
		}
	case syntax.OpRepeat:
		switch sub := re.Sub[0]; sub.Op {
		case syntax.OpCharClass:
			set, wide = setOf(sub.Rune)
			return set, wide, re.Min
		case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
			set.addRange(0, utf8.RuneSelf-1)
			return set, true, re.Min
		}
	}
	return set, wide, least
}
