package safeterm

import (
	"fmt"
	"unicode/utf8"
)

// form is the treatment of control and invisible characters.
type form uint8

const (
	prose  form = iota // drop
	output             // drop; carriage return and backspace erase text
	reveal             // show as <U+XXXX>
	name               // show, newline and tab too
)

// maxMarks bounds the combining marks on a character: real orthographies need a handful, and more
// would paint over the neighboring lines.
const maxMarks = 8

// machine cleans text that may arrive in pieces; it holds all state between them. It examines each
// byte a bounded number of times.
//
// A newline ends every sequence. No useful sequence contains one, and otherwise an unterminated OSC
// would hide the rest of a text from the user.
type machine struct {
	form   form
	state  state
	tail   string // incomplete character, completed by the next piece
	cr     bool   // pending carriage return: line end, overwrite, or alone
	joiner rune   // pending joiner that may join the next character to prev
	prev   rune
	marks  int // combining marks since the last base character
	line   int // start of the current line in dst; only for output, always a single piece
}

// resting reports whether no state is pending, so that plain text passes unchanged.
func (m *machine) resting() bool {
	return m.state == ground && m.tail == "" && !m.cr && m.joiner == 0
}

// plain returns the length of the leading printable ASCII, with newlines and tabs if these are
// kept.
func plain(s string, breaks bool) int {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c < del || breaks && (c == '\n' || c == '\t') {
			continue
		}
		return i
	}
	return len(s)
}

func (m *machine) feed(dst []byte, s string) []byte {
	if m.tail != "" {
		s, m.tail = m.tail+s, ""
	}
	for len(s) > 0 {
		if m.resting() {
			n := plain(s, false)
			if n > 0 {
				dst, s = append(dst, s[:n]...), s[n:]
				m.wrote(rune(dst[len(dst)-1]))
				continue
			}
		}
		r, n := decode(s)
		if n == 0 {
			m.tail = s
			break
		}
		s = s[n:]
		dst = m.step(dst, r)
	}
	return dst
}

// end resolves pending state as if nothing follows.
func (m *machine) end(dst []byte) []byte {
	if m.tail != "" {
		m.tail = ""
		dst = m.step(dst, utf8.RuneError)
	}
	if m.cr && m.form >= reveal {
		dst = m.show(dst, '\r')
	}
	return dst
}

// decode reads one character; 0 bytes means that s ends inside one. A lone byte 0x80-0x9F is the C1
// control of an 8-bit terminal. Other invalid bytes become U+FFFD, one for each maximal subpart
// (Unicode 3.9), so that an incomplete character's bytes are not taken for controls.
func decode(s string) (rune, int) {
	r, n := utf8.DecodeRuneInString(s)
	if r != utf8.RuneError || n != 1 {
		return r, n
	}
	if !utf8.FullRuneInString(s) {
		return 0, 0
	}
	if isC1(rune(s[0])) {
		return rune(s[0]), 1
	}
	if utf8.FullRuneInString(s[:1]) {
		return utf8.RuneError, 1
	}
	for n < len(s) && !utf8.FullRuneInString(s[:n+1]) {
		n++
	}
	return utf8.RuneError, n
}

func (m *machine) step(dst []byte, r rune) []byte {
	if m.form >= reveal {
		return m.visible(dst, r)
	}
	if m.state != ground && m.inside(r) {
		return dst
	}
	switch {
	case r == '\n', r == '\t', r == '\r', r == bs:
		return m.layout(dst, r)
	case r < ' ' || r == del || isC1(r):
		m.open(r)
		return dst
	}
	return m.text(dst, r)
}

// visible shows characters that the other forms drop.
func (m *machine) visible(dst []byte, r rune) []byte {
	if m.cr {
		m.cr = false
		if r != '\n' {
			dst = m.show(dst, '\r')
		}
	}
	switch {
	case m.form == reveal && r == '\r':
		m.cr = true
		return dst
	case m.form == reveal && (r == '\n' || r == '\t'):
		return m.write(dst, r)
	case r == '\n': // a name stays on one line
		return m.write(dst, '⏎')
	case r < ' ' || r == del || isC1(r) || invisible(r) || m.towering(r):
		return m.show(dst, r)
	}
	return m.write(dst, r)
}

func (m *machine) show(dst []byte, r rune) []byte {
	m.wrote('>')
	return fmt.Appendf(dst, "<U+%04X>", r)
}

// layout handles the four characters that move the cursor.
func (m *machine) layout(dst []byte, r rune) []byte {
	switch r {
	case '\r':
		m.cr = true
		return dst
	case '\n':
		m.cr = false
		dst = m.write(dst, '\n')
		m.line = len(dst)
		return dst
	case bs:
		return m.takeBack(dst)
	}
	return m.text(dst, r)
}

// takeBack removes the last character in a line of command output. Prose ignores backspaces, since
// earlier pieces are already displayed.
func (m *machine) takeBack(dst []byte) []byte {
	if m.form != output || m.cr || len(dst) <= m.line {
		return dst
	}
	for {
		_, n := utf8.DecodeLastRune(dst[m.line:])
		dst, m.joiner = dst[:len(dst)-n], 0
		last, _ := utf8.DecodeLastRune(dst[m.line:])
		if last != zeroWidthJoiner && last != zeroWidthNonJoiner {
			m.prev, m.marks = last, marks(dst[m.line:])
			return dst
		}
	}
}

func marks(text []byte) (n int) {
	for {
		r, size := utf8.DecodeLastRune(text)
		if !combining(r) {
			return n
		}
		text = text[:len(text)-size]
		n++
	}
}

// text writes an ordinary character after pending ones.
func (m *machine) text(dst []byte, r rune) []byte {
	if invisible(r) {
		return m.faint(dst, r)
	}
	if m.cr {
		dst = m.carriageReturn(dst)
	}
	if m.joiner != 0 {
		if joins(m.prev, m.joiner, r) {
			dst = utf8.AppendRune(dst, m.joiner)
		}
		m.joiner = 0
	}
	if m.towering(r) {
		return dst
	}
	return m.write(dst, r)
}

// carriageReturn handles one that is not part of a line end.
func (m *machine) carriageReturn(dst []byte) []byte {
	m.cr, m.joiner = false, 0
	if m.form == output {
		m.wrote('\n')
		return dst[:m.line]
	}
	return m.write(dst, '\n')
}

// faint handles an invisible character in prose: a separator breaks the line, a joiner is held, an
// emoji's variation selector stays, others are dropped.
func (m *machine) faint(dst []byte, r rune) []byte {
	switch {
	case r == lineSeparator || r == paragraphSeparator:
		return m.layout(dst, '\n')
	case m.cr || m.joiner != 0: // no preceding character to belong to
	case r == zeroWidthJoiner || r == zeroWidthNonJoiner:
		m.joiner = r
		return dst
	case (r == textSelector || r == emojiSelector) && pictograph(m.prev):
		m.prev = r
		return utf8.AppendRune(dst, r)
	}
	return dst
}

// towering counts combining marks and reports one too many.
func (m *machine) towering(r rune) bool {
	return m.marks >= maxMarks && combining(r)
}

func (m *machine) write(dst []byte, r rune) []byte {
	m.wrote(r)
	return utf8.AppendRune(dst, r)
}

// wrote records the last character for later decisions.
func (m *machine) wrote(r rune) {
	m.prev = r
	if combining(r) {
		m.marks++
		return
	}
	m.marks = 0
}
