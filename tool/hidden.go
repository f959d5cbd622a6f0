package tool

import (
	"fmt"
	"strings"
)

// ShownHidden writes out the characters of a text that a user never sees and a model reads all the
// same: tags, which spell whole sentences unseen, and selectors beyond those of emoji, which spell
// bytes (U+E0000 to U+E01EF); what turns the direction of writing, so that code looks other than it
// runs (U+202A to U+202E, U+2066 to U+2069; CVE-2021-42574); what is invisible in every script
// (U+2060 to U+206F, U+FEFF). Every output and every instruction file passes it on its way to the
// model. Marks that scripts need, joiners and the selectors of emoji stay.
func ShownHidden(s string) string {
	if !mayHide(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hides(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// TakenHidden is the text that ShownHidden shows so.
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
		if _, err := fmt.Sscanf(digits, "%X", &r); closed && err == nil && hides(r) && fmt.Sprintf("%04X", r) == digits {
			b.WriteRune(r)
			s = after
			continue
		}
		b.WriteString("<U+")
		s = rest
	}
}

// mayHide looks for the bytes of such characters: most texts have none.
func mayHide(s string) bool {
	for i := 0; i+2 < len(s); i++ {
		switch c, d := s[i+1], s[i+2]; {
		case s[i] == 0xE2 && (c == 0x80 && d >= 0xAA && d <= 0xAE || c == 0x81 && d >= 0xA0 && d <= 0xAF),
			s[i] == 0xEF && c == 0xBB && d == 0xBF, s[i] == 0xF3 && c == 0xA0:
			return true
		}
	}
	return false
}

func hides(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2060 && r <= 0x206F || r == 0xFEFF || r >= 0xE0000 && r <= 0xE01EF
}
