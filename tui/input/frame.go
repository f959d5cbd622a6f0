package input

import (
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
)

const (
	esc = 0x1b
	bel = 0x07
)

// maxSequence bounds what is kept of a sequence that does not end.
const maxSequence = 64 << 10

// whole is how many bytes the first character or sequence in b takes; if 0, its end has not come
// yet. What cannot go on is whole, too: it ends where it breaks. The forms are those of ECMA-48.
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

// control is the length of a control sequence: parameters, intermediates, one final byte.
func control(b []byte) int {
	if len(b) > 2 && b[2] == '[' || len(b) > 2 && b[2] == 'M' { // keys of the Linux console; the mouse as X10 has it
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

// shifted is the length of a key that begins with ESC O.
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

// text is the length of a string that a terminal sends, such as the answer to a question.
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

// consoleKey knows the function keys of the Linux console, which are in no standard
// (console_codes(4)).
func consoleKey(b []byte) (rune, bool) {
	if len(b) == 4 && b[1] == '[' && b[2] == '[' && 'A' <= b[3] && b[3] <= 'E' {
		return uv.KeyF1 + rune(b[3]-'A'), true
	}
	return 0, false
}
