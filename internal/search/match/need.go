package match

import (
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxAlternatives bounds how many literals are looked for at once; each costs a pass over the text.
const maxAlternatives = 8

// need is a choice of literals: every match contains at least one of them.
type need struct {
	alts  []literal // none: nothing is known
	whole bool      // containing one is already a match
}

// literal is text that a match contains.
type literal struct {
	text string // in lower case where fold
	fold bool   // ASCII letters in either case
}

// needOf reads the best choice off a parsed expression.
func needOf(re *syntax.Regexp) need {
	switch re.Op {
	case syntax.OpLiteral:
		return needOfLiteral(re)
	case syntax.OpCapture:
		return needOf(re.Sub[0])
	case syntax.OpPlus:
		n := needOf(re.Sub[0])
		return need{alts: n.alts, whole: n.whole}
	case syntax.OpRepeat:
		if re.Min > 0 {
			n := needOf(re.Sub[0])
			return need{alts: n.alts, whole: n.whole && re.Min == 1}
		}
	case syntax.OpConcat:
		return needOfConcat(re)
	case syntax.OpAlternate:
		return needOfAlternate(re)
	}
	return need{}
}

// needOfConcat picks the best of the parts: a match contains them all.
func needOfConcat(re *syntax.Regexp) need {
	var best need
	for _, sub := range re.Sub {
		if n := needOf(sub); n.score() > best.score() {
			best = n
		}
	}
	best.whole = best.whole && len(re.Sub) == 1
	return best
}

// needOfAlternate needs something of every branch.
func needOfAlternate(re *syntax.Regexp) need {
	all := need{whole: true}
	for _, sub := range re.Sub {
		n := needOf(sub)
		if len(n.alts) == 0 || len(all.alts)+len(n.alts) > maxAlternatives {
			return need{}
		}
		all.alts = append(all.alts, n.alts...)
		all.whole = all.whole && n.whole
	}
	return all
}

// needOfLiteral takes the part of a literal that has only one spelling in bytes, or two in ASCII.
func needOfLiteral(re *syntax.Regexp) need {
	fold := re.Flags&syntax.FoldCase != 0
	best, run := "", strings.Builder{}
	for _, r := range re.Rune {
		if oneSpelling(r, fold) {
			run.WriteRune(lower(r, fold))
		} else {
			run.Reset()
		}
		if rarity(run.String()) > rarity(best) {
			best = run.String()
		}
	}
	if best == "" {
		return need{}
	}
	whole := len(best) == len(string(re.Rune))
	return need{alts: []literal{{text: best, fold: fold && hasLetter(best)}}, whole: whole}
}

// oneSpelling reports whether a rune of a pattern stands for one byte sequence, up to ASCII case.
// The Kelvin sign folds to k and the long s to s; U+FFFD matches every byte that is not UTF-8.
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

// score estimates how few lines contain what is needed.
func (n need) score() int {
	if len(n.alts) == 0 {
		return 0
	}
	least := rarity(n.alts[0].text)
	for _, alt := range n.alts[1:] {
		least = min(least, rarity(alt.text))
	}
	return max(1, least-len(n.alts)+1)
}

// rarity adds up how unusual the bytes of a text are in source code.
func rarity(text string) int {
	sum := 0
	for i := range len(text) {
		sum += byteRarity(text[i])
	}
	return sum
}

// byteRarity is coarse on purpose: length decides between literals, rarity only between equals.
func byteRarity(b byte) int {
	switch {
	case b == ' ' || b == '\t' || b == '\n':
		return 2
	case strings.IndexByte("etaoinrs", b) >= 0:
		return 3
	case b >= 'a' && b <= 'z' || strings.IndexByte("().,_=;\"", b) >= 0:
		return 4
	case b >= '0' && b <= '9' || b >= 'A' && b <= 'Z':
		return 5
	}
	return 6
}
