package text

// high1252 holds the Windows-1252 characters for 0x80–0x9F. As in the WHATWG encoding standard, the
// five unassigned bytes keep their number, so that every byte survives a round trip.
const high1252 = "\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f" +
	"\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178"

func windows1252(c byte) rune {
	n := byte(0x80)
	for _, r := range high1252 {
		if n == c {
			return r
		}
		n++
	}
	return rune(c)
}

func toWindows1252(r rune) (byte, bool) {
	if r < 0x80 || r >= 0xA0 && r <= 0xFF {
		return byte(r), true
	}
	n := byte(0x80)
	for _, h := range high1252 {
		if h == r {
			return n, true
		}
		n++
	}
	return 0, false
}
