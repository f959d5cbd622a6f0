package safeterm

import "unicode"

const (
	zeroWidthNonJoiner = 0x200C
	zeroWidthJoiner    = 0x200D
	lineSeparator      = 0x2028
	paragraphSeparator = 0x2029
	textSelector       = 0xFE0E
	emojiSelector      = 0xFE0F
)

func isC1(r rune) bool { return r >= 0x80 && r <= 0x9F }

// invisible reports characters that users cannot see but that change the display or hide content:
// Default_Ignorable_Code_Point in Unicode 16, bidirectional controls, line and paragraph
// separators, format controls for annotation, hieroglyphs, music and shorthand, and noncharacters.
func invisible(r rune) bool {
	switch {
	case r < 0xAD:
		return false
	case r < 0x2000:
		return r == 0xAD || r == 0x34F || r == 0x61C || r == 0x115F || r == 0x1160 ||
			r == 0x17B4 || r == 0x17B5 || r >= 0x180B && r <= 0x180F
	case r < 0x3000:
		return r >= 0x200B && r <= 0x200F || r >= 0x2028 && r <= 0x202E || r >= 0x2060 && r <= 0x206F
	case r <= 0xFFFF:
		return r == 0x3164 || r >= 0xFE00 && r <= 0xFE0F || r == 0xFEFF || r == 0xFFA0 ||
			r >= 0xFFF0 && r <= 0xFFFB || r >= 0xFDD0 && r <= 0xFDEF || r >= 0xFFFE
	}
	return r >= 0x13430 && r <= 0x1345F || r >= 0x1BCA0 && r <= 0x1BCA3 ||
		r >= 0x1D173 && r <= 0x1D17A || r >= 0xE0000 && r <= 0xE0FFF || r&0xFFFE == 0xFFFE
}

// joins reports whether a joiner has a visible effect between two characters: it combines two
// emoji, or selects letter shapes in a joining script. Elsewhere it could only hide something.
func joins(before, joiner, after rune) bool {
	if joiner == zeroWidthJoiner && pictograph(after) {
		return pictograph(before) || before == emojiSelector
	}
	return joiningScript(before) && joiningScript(after)
}

// pictograph approximates Extended_Pictographic generously, by block.
func pictograph(r rune) bool {
	switch {
	case r < 0x2190:
		return r == 0xA9 || r == 0xAE || r == 0x203C || r == 0x2049 || r == 0x2122 || r == 0x2139
	case r < 0x3000:
		return r <= 0x21FF || r >= 0x2300 && r <= 0x23FF || r >= 0x2460 && r <= 0x27BF ||
			r >= 0x2900 && r <= 0x297F || r >= 0x2B00 && r <= 0x2BFF
	}
	return r == 0x3030 || r == 0x303D || r == 0x3297 || r == 0x3299 || r >= 0x1F000 && r <= 0x1FAFF
}

// joiningScript reports letters and marks in scripts that use joiners.
func joiningScript(r rune) bool {
	return r >= 0x600 && unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Devanagari, unicode.Bengali,
		unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada,
		unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Mongolian)
}

// combining reports marks drawn over the previous character. Two ranges without marks cover most
// text, so the table is rarely consulted.
func combining(r rune) bool {
	if r < 0x300 || r >= 0x3100 && r < 0xA66F {
		return false
	}
	return unicode.In(r, unicode.Mn, unicode.Me)
}
