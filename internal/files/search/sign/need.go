package sign

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Need is what every match contains: all of some things, any of some, or a text by its three-byte
// sequences.
type Need struct {
	all, any []*Need
	grams    []uint32
}

// Bounds of the texts that a part of a pattern may stand for.
const (
	maxTexts = 16
	maxClass = 4 // characters of a class that is written out
)

// Needed reads off an expression what every match contains; if nil, nothing that would help.
func Needed(expr string) *Need {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	return needOf(tree.Simplify()).need()
}

// part is what is known about a part of an expression: the texts it stands for, if they are few,
// else what they contain.
type part struct {
	texts []string // none: not known, or too many
	needs *Need
}

// nothing is a part of which nothing is known.
func nothing() part { return part{} }

// need is what each of the texts contains.
func (p part) need() *Need {
	if p.texts == nil {
		return p.needs
	}
	each := &Need{}
	for _, text := range p.texts {
		grams := gramsOf(text)
		if len(grams) == 0 {
			return nil
		}
		each.any = append(each.any, &Need{grams: grams})
	}
	if len(each.any) == 1 {
		return each.any[0]
	}
	return each
}

func needOf(re *syntax.Regexp) part {
	switch re.Op {
	case syntax.OpLiteral:
		return needOfLiteral(re)
	case syntax.OpCharClass:
		return needOfClass(re)
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return part{texts: []string{""}}
	case syntax.OpCapture:
		return needOf(re.Sub[0])
	case syntax.OpPlus:
		return part{needs: needOf(re.Sub[0]).need()}
	case syntax.OpQuest:
		if p := needOf(re.Sub[0]); p.texts != nil && len(p.texts) < maxTexts {
			return part{texts: append([]string{""}, p.texts...)}
		}
	case syntax.OpConcat:
		return needOfConcat(re.Sub)
	case syntax.OpAlternate:
		return needOfAlternate(re.Sub)
	}
	return nothing()
}

// needOfLiteral writes out the spellings of a literal. Its longest parts are kept where a character
// has too many.
func needOfLiteral(re *syntax.Regexp) part {
	parts := make([]part, len(re.Rune))
	for i, r := range re.Rune {
		parts[i] = spelled(r, re.Flags&syntax.FoldCase != 0)
	}
	return joined(parts)
}

// spelled are the spellings of one character. Those of ASCII are folded in signatures, and a file
// with one of the two characters that fold to ASCII, the Kelvin sign and the long s, is always
// read; U+FFFD stands for any stray byte.
func spelled(r rune, fold bool) part {
	if r == utf8.RuneError {
		return nothing()
	}
	texts := []string{lowered(r)}
	if fold {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			texts = add(texts, lowered(f))
		}
	}
	return part{texts: texts}
}

// lowered is a character as signatures have it.
func lowered(r rune) string {
	switch {
	case r == kelvin:
		return "k"
	case r == longS:
		return "s"
	case r < utf8.RuneSelf:
		return string(rune(folded(byte(r))))
	}
	return string(r)
}

// Those that fold to ASCII.
const (
	kelvin = '\u212a'
	longS  = '\u017f'
)

func add(texts []string, text string) []string {
	if slices.Contains(texts, text) {
		return texts
	}
	return append(texts, text)
}

// needOfClass writes out a class of few characters.
func needOfClass(re *syntax.Regexp) part {
	var texts []string
	for i := 0; i < len(re.Rune); i += 2 {
		low, high := re.Rune[i], re.Rune[i+1]
		if high-low > 2*maxClass || low <= utf8.RuneError && utf8.RuneError <= high {
			return nothing()
		}
		for r := low; r <= high; r++ {
			texts = add(texts, lowered(r))
		}
		if len(texts) > maxClass {
			return nothing()
		}
	}
	return part{texts: texts}
}

func needOfConcat(subs []*syntax.Regexp) part {
	var parts []part
	for _, sub := range subs {
		if sub.Op == syntax.OpPlus {
			// It begins with one and ends with one, whatever lies between.
			once := needOf(sub.Sub[0])
			parts = append(parts, once, nothing(), once)
			continue
		}
		parts = append(parts, needOf(sub))
	}
	return joined(parts)
}

// joined is one part after another: their texts put together as long as they are few, and all that
// is needed.
func joined(parts []part) part {
	run := []string{""}
	var all []*Need
	whole := true
	end := func() {
		whole = false
		if n := (part{texts: run}).need(); n != nil {
			all = append(all, n)
		}
		run = []string{""}
	}
	for _, p := range parts {
		switch {
		case p.texts == nil:
			end()
			if p.needs != nil {
				all = append(all, p.needs)
			}
		case len(run)*len(p.texts) > maxTexts, len(run[0]) > overlap/2:
			end()
			run = p.texts
		default:
			run = crossed(run, p.texts)
		}
	}
	if whole {
		return part{texts: run}
	}
	end()
	switch len(all) {
	case 0:
		return nothing()
	case 1:
		return part{needs: all[0]}
	}
	return part{needs: &Need{all: all}}
}

// crossed is every text of the one followed by every one of the other.
func crossed(a, b []string) []string {
	texts := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			texts = append(texts, x+y)
		}
	}
	return texts
}

// needOfAlternate is the texts of all branches, or something of each.
func needOfAlternate(subs []*syntax.Regexp) part {
	var texts []string
	few, each := true, &Need{}
	for _, sub := range subs {
		p := needOf(sub)
		texts = append(texts, p.texts...)
		few = few && p.texts != nil && len(texts) <= maxTexts
		if n := p.need(); n != nil {
			each.any = append(each.any, n)
		}
	}
	switch {
	case few:
		return part{texts: texts}
	case len(each.any) == len(subs):
		return part{needs: each}
	}
	return nothing()
}

// String shows how much is needed, for those who read a failed test.
func (n *Need) String() string {
	if n == nil {
		return "nothing"
	}
	var parts []string
	for _, sub := range n.all {
		parts = append(parts, sub.String())
	}
	if parts != nil {
		return "(" + strings.Join(parts, " and ") + ")"
	}
	for _, sub := range n.any {
		parts = append(parts, sub.String())
	}
	if parts != nil {
		return "(" + strings.Join(parts, " or ") + ")"
	}
	return strings.Repeat("#", len(n.grams))
}
