package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ShownHidden escapes characters that a user never sees but a model reads: controls, which act on
// terminals (ESC, C1); tags, which can spell whole sentences, and selectors beyond emoji, which can
// spell bytes (U+E0000 to U+E01EF); marks that change the writing direction, so that code looks
// different from what runs (U+202A to U+202E, U+2066 to U+2069; CVE-2021-42574); characters that
// are invisible in every script (U+200B, U+2060 to U+206F, U+FEFF, the Hangul fillers). Every
// output and instruction file passes it on its way to the model. Marks that scripts need, joiners,
// emoji selectors, line ends and page ends stay.
func ShownHidden(s string) string {
	if !mayHide(s) {
		return s
	}
	var b strings.Builder
	before := rune(0)
	for i, r := range s {
		if Hidden(r) && !(r == zeroWidthSpace && spaced(before) && spaced(runeAt(s, i+3))) {
			fmt.Fprintf(&b, "<U+%04X>", r)
		} else if r == utf8.RuneError {
			_, size := utf8.DecodeRuneInString(s[i:])
			b.WriteString(s[i : i+size])
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

// TakenHidden reverses ShownHidden.
func TakenHidden(s string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "<U+")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		var r rune
		digits, after, closed := strings.Cut(rest, ">")
		if _, err := fmt.Sscanf(digits, "%X", &r); closed && err == nil && Hidden(r) && fmt.Sprintf("%04X", r) == digits {
			b.WriteRune(r)
			s = after
			continue
		}
		b.WriteString("<U+")
		s = rest
	}
}

// mayHide searches the bytes of such characters: most texts have none.
func mayHide(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < 0xC2:
			if c < 0x20 && Hidden(rune(c)) || c == 0x7F {
				return true
			}
		case c == 0xC2, c == 0xE1, c == 0xE2, c == 0xE3, c == 0xEF, c == 0xF3:
			if Hidden(runeAt(s, i)) {
				return true
			}
		}
	}
	return false
}

func runeAt(s string, i int) rune {
	r, _ := utf8.DecodeRuneInString(s[min(i, len(s)):])
	return r
}

// Hidden reports whether a user never sees the character, or it acts on a terminal.
func Hidden(r rune) bool {
	switch {
	case r < 0xA0:
		return r < 0x20 && r != '\t' && r != '\n' && r != '\r' && r != '\f' || r >= 0x7F
	case r < 0x2000:
		return r == 0x115F || r == 0x1160 || r == 0x180E
	case r <= 0xFFFF:
		return r == zeroWidthSpace || r >= 0x202A && r <= 0x202E || r >= 0x2060 && r <= 0x206F || r == 0x3164 || r == 0xFEFF || r == 0xFFA0 || r >= 0xFFF9 && r <= 0xFFFB
	}
	return r >= 0xE0000 && r <= 0xE01EF
}

const zeroWidthSpace = 0x200B

// spaced reports letters from scripts that separate words by U+200B: Thai, Lao, Tibetan, Burmese,
// Khmer and their neighbors.
func spaced(r rune) bool {
	return r >= 0x0E00 && r <= 0x109F || r >= 0x1780 && r <= 0x17FF || r >= 0x1950 && r <= 0x1AAF || r >= 0xA9E0 && r <= 0xAADF
}
