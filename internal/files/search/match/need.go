package match

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxAlternatives bounds the windows in package kern: each has a bit.
const maxAlternatives = 8

// maxLiterals bounds the literals. They share the bits; each candidate is compared with all
// literals of its bit.
const maxLiterals = 4 * maxAlternatives

// literalSet is a set of literals; every match contains at least one of them.
type literalSet struct {
	alts      []literal // if empty, unknown
	isMatch   bool      // containing one is already a match
	repeats   bool      // one of several in a row, so its neighbors decide nothing
	laterLine bool      // may be on a later line than the match's start
}

type literal struct {
	text string // in lower case if fold
	fold bool   // match ASCII letters in either case
}

// needOf returns the best literals of an expression; with near, only those on the line on which a
// match begins.
func needOf(re *syntax.Regexp, near bool) literalSet {
	switch re.Op {
	case syntax.OpLiteral:
		return needOfLiteral(re, near)
	case syntax.OpCapture:
		return needOf(re.Sub[0], near)
	case syntax.OpPlus:
		n := needOf(re.Sub[0], near)
		return literalSet{alts: n.alts, isMatch: n.isMatch, repeats: true, laterLine: n.laterLine}
	case syntax.OpRepeat:
		if re.Min > 0 {
			n := needOf(re.Sub[0], near)
			return literalSet{alts: n.alts, isMatch: n.isMatch && re.Min == 1, repeats: n.repeats || re.Max != 1, laterLine: n.laterLine}
		}
	case syntax.OpConcat:
		return needOfConcat(re, near)
	case syntax.OpAlternate:
		return needOfAlternate(re, near)
	}
	return literalSet{}
}

// needOfConcat returns the best set of any part, since a match contains all parts.
func needOfConcat(re *syntax.Regexp, near bool) literalSet {
	var best literalSet
	far := false
	for _, sub := range re.Sub {
		if n := needOf(sub, near); n.odds() < best.odds() {
			best = n
			best.laterLine = far || n.laterLine
		}
		if far = far || spansLines(sub); far && near {
			break
		}
	}
	best.isMatch = best.isMatch && len(re.Sub) == 1
	return best
}

func needOfAlternate(re *syntax.Regexp, near bool) literalSet {
	all := literalSet{isMatch: true}
	for _, sub := range re.Sub {
		n := needOf(sub, near)
		if len(n.alts) == 0 || len(all.alts)+len(n.alts) > maxLiterals {
			return literalSet{}
		}
		all.alts = append(all.alts, n.alts...)
		all.isMatch, all.repeats, all.laterLine = all.isMatch && n.isMatch, all.repeats || n.repeats, all.laterLine || n.laterLine
	}
	return all
}

// needOfLiteral returns the best part of a literal that has only one byte spelling, apart from
// ASCII case.
func needOfLiteral(re *syntax.Regexp, near bool) literalSet {
	fold := re.Flags&syntax.FoldCase != 0
	var best literal
	bestFar, far := false, false // after a line break in the literal
	run := strings.Builder{}
	for i, r := range re.Rune {
		if oneSpelling(r, fold) {
			run.WriteRune(lower(r, fold))
			if i < len(re.Rune)-1 {
				continue
			}
		}
		if l := (literal{run.String(), fold}); l.text != "" && !(far && near) && (best.text == "" || l.odds() < best.odds()) {
			best, bestFar = l, far
		}
		far = far || slices.Contains(re.Rune[:i+1], '\n')
		run.Reset()
	}
	if best.text == "" {
		return literalSet{}
	}
	best.fold = fold && hasLetter(best.text)
	return literalSet{alts: []literal{best}, isMatch: len(best.text) == len(string(re.Rune)), laterLine: bestFar}
}

// oneSpelling reports whether a rune matches only one byte sequence, up to ASCII case. The Kelvin
// sign folds to k and the long s to s; U+FFFD matches every invalid byte.
func oneSpelling(r rune, fold bool) bool {
	if r == utf8.RuneError {
		return false
	}
	if !fold {
		return true
	}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		if f >= utf8.RuneSelf || r >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func lower(r rune, fold bool) rune {
	if fold && r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

func hasLetter(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 'a' && r <= 'z' }) >= 0
}

// odds estimates how often a candidate has to be checked; 1 if there are no literals.
func (n literalSet) odds() float64 {
	if len(n.alts) == 0 {
		return 1
	}
	sum := 0.0
	for _, alt := range n.alts {
		sum += alt.odds()
	}
	return min(sum, 1)
}

// odds estimates how often the literal's three rarest bytes occur together. Length alone does not
// make it rarer: `return` is far more frequent than `Error`.
func (l literal) odds() float64 {
	least := [3]float64{1, 1, 1}
	for i := range len(l.text) {
		o := oddsOf(l.text[i], l.fold)
		for k := range least {
			if o < least[k] {
				o, least[k] = least[k], o
			}
		}
	}
	return least[0] * least[1] * least[2]
}
