package input

import (
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
)

const (
	esc = 0x1b
	bel = 0x07
)

// maxSequence limits a sequence without an end, in bytes.
const maxSequence = 64 << 10

// whole returns the length of the first character or sequence in b, or 0 if it is incomplete. An
// invalid sequence ends at its first invalid byte. The formats are from ECMA-48.
func whole(b []byte) int {
	switch {
	case len(b) == 0:
		return 0
	case b[0] != esc:
		if !utf8.FullRune(b) {
			return 0
		}
		_, n := utf8.DecodeRune(b)
		return n
	case len(b) == 1:
		return 0
	}
	switch b[1] {
	case '[':
		return control(b)
	case 'O':
		return shifted(b)
	case ']', 'P', '_', '^', 'X':
		return text(b)
	}
	if n := whole(b[1:]); n > 0 && (b[1] != esc || len(b) > 2) {
		return 1 + n
	}
	return 0
}

// control returns the length of a control sequence: parameters, intermediates, one final byte.
func control(b []byte) int {
	if len(b) > 2 && b[2] == '[' || len(b) > 2 && b[2] == 'M' { // Linux console keys; X10 mouse reports
		n := map[byte]int{'[': 4, 'M': 6}[b[2]]
		if len(b) < n {
			return 0
		}
		return n
	}
	i := 2
	for i < len(b) && 0x20 <= b[i] && b[i] <= 0x3f {
		i++
	}
	switch {
	case i == len(b) && i < maxSequence:
		return 0
	case i < len(b) && 0x40 <= b[i] && b[i] <= 0x7e:
		return i + 1
	}
	return i
}

// shifted returns the length of a key that begins with ESC O.
func shifted(b []byte) int {
	i := 2
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	if i == len(b) && i < maxSequence {
		return 0
	}
	return min(i+1, len(b))
}

// text returns the length of a string from the terminal, such as the answer to a query.
func text(b []byte) int {
	for i := 2; i < len(b); i++ {
		switch {
		case b[i] == bel:
			return i + 1
		case b[i] == esc && i+1 == len(b):
			return 0
		case b[i] == esc && b[i+1] == '\\':
			return i + 2
		case b[i] == esc:
			return i
		}
	}
	if len(b) < maxSequence {
		return 0
	}
	return len(b)
}

// consoleKey decodes the Linux console's function keys, which are not standardized
// (console_codes(4)).
func consoleKey(b []byte) (rune, bool) {
	if len(b) == 4 && b[1] == '[' && b[2] == '[' && 'A' <= b[3] && b[3] <= 'E' {
		return uv.KeyF1 + rune(b[3]-'A'), true
	}
	return 0, false
}
