package match

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
)

// \w, \d and \s as in ripgrep and UTS 18 annex C: Alphabetic, marks, decimal digits, connectors and
// joiners; decimal digits; White_Space. Alphabetic means letters, letter numbers and the circled
// and squared Latin letters (Other_Alphabetic beyond the marks). A "-" may follow, behind a range.
const (
	wordClass  = `\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}\x{200C}-\x{200D}`
	digitClass = `\p{Nd}`
	spaceClass = `\t\n\v\f\r \x{85}\x{A0}\x{1680}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{2000}-\x{200A}`
)

func isWord(r rune) bool {
	if r < 0x80 {
		return r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	}
	switch {
	case unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc), r == 0x200C, r == 0x200D:
		return true
	case r >= 0x24B6 && r <= 0x24E9, r >= 0x1F130 && r <= 0x1F149, r >= 0x1F150 && r <= 0x1F169, r >= 0x1F170 && r <= 0x1F189:
		return true
	}
	return false
}

// notWordClass is the complement of wordClass, for \W inside a class.
var notWordClass = sync.OnceValue(func() string { return complement(isWord) })

var notSpaceClass = sync.OnceValue(func() string {
	return complement(func(r rune) bool { return unicode.Is(unicode.White_Space, r) })
})

func complement(in func(rune) bool) string {
	var b strings.Builder
	from := rune(-1)
	for r := rune(0); r <= unicode.MaxRune+1; r++ {
		out := r <= unicode.MaxRune && !in(r)
		switch {
		case out && from < 0:
			from = r
		case !out && from >= 0:
			fmt.Fprintf(&b, `\x{%X}-\x{%X}`, from, r-1)
			from = -1
		}
	}
	return b.String()
}

// unicodeClasses expands \w, \d and \s, which are ASCII in Go's syntax. The pattern must be valid.
// Named classes in brackets such as [[:alpha:]] stay ASCII.
func unicodeClasses(pattern string) string {
	if !strings.Contains(pattern, `\`) {
		return pattern
	}
	var b strings.Builder
	bracket := false
	for i := 0; i < len(pattern); {
		n := 1
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			n = escapeLen(pattern[i:], bracket)
			b.WriteString(escape(pattern[i:i+n], bracket))
			i += n
			continue
		case c == '[' && !bracket:
			bracket = true
			n = openLen(pattern[i:])
		case c == '[' && strings.HasPrefix(pattern[i:], "[:"):
			if end := strings.Index(pattern[i:], ":]"); end > 0 {
				n = end + 2
			}
		case c == ']':
			bracket = false
		}
		b.WriteString(pattern[i : i+n])
		i += n
	}
	return b.String()
}

// escapeLen returns an escape's length: two bytes, or a whole \Q quotation.
func escapeLen(rest string, bracket bool) int {
	if rest[1] != 'Q' || bracket {
		return 2
	}
	if end := strings.Index(rest, `\E`); end >= 0 {
		return end + 2
	}
	return len(rest)
}

// openLen returns the length of the start of a class, including a literal "]".
func openLen(rest string) int {
	n := 1
	if strings.HasPrefix(rest[n:], "^") {
		n++
	}
	if strings.HasPrefix(rest[n:], "]") {
		n++
	}
	return n
}

func escape(esc string, bracket bool) string {
	inside, alone := "", ""
	switch esc {
	case `\w`:
		inside, alone = wordClass, "["+wordClass+"]"
	case `\W`:
		if alone = "[^" + wordClass + "]"; bracket {
			inside = notWordClass()
		}
	case `\d`:
		inside, alone = digitClass, digitClass
	case `\D`:
		inside, alone = `\P{Nd}`, `\P{Nd}`
	case `\s`:
		inside, alone = spaceClass, "["+spaceClass+"]"
	case `\S`:
		if alone = "[^" + spaceClass + "]"; bracket {
			inside = notSpaceClass()
		}
	default:
		return esc
	}
	if bracket {
		return inside
	}
	return alone
}

// escapes reports whether pattern contains one of the given escapes, such as \r or \<.
func escapes(pattern string, which ...string) bool {
	for i := 0; i+1 < len(pattern); i++ {
		if pattern[i] != '\\' {
			continue
		}
		for _, w := range which {
			if strings.HasPrefix(pattern[i+1:], w) {
				return true
			}
		}
		i++
	}
	return false
}
