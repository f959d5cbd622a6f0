package safeterm

import (
	"fmt"
	"unicode/utf8"
)

// form says what becomes of what a terminal would obey or a user would not see.
type form uint8

const (
	prose  form = iota // drop it
	output             // drop it; carriage return and backspace take back text
	reveal             // show it as <U+XXXX>
	name               // show it, newline and tab too
)

// maxMarks bounds combining marks on one character: real orthographies need at most a handful, a
// tower of them paints over the neighbouring lines.
const maxMarks = 8

// machine cleans a text that may arrive in pieces; all that one piece leaves open is kept here. It
// looks at each byte a bounded number of times.
//
// A newline ends every sequence. No useful sequence holds one, and without this rule an OSC that
// is never closed would hide the rest of a text from the user.
type machine struct {
	form   form
	state  state
	tail   string // the first bytes of a character that the next piece completes
	cr     bool   // a carriage return waits: line end, overwrite, or lone
	joiner rune   // a joiner waits for a character that it may join to prev
	prev   rune   // last character written
	marks  int    // combining marks written since the last base character
	line   int    // where in dst the current line begins; output only, which is always one piece
}

// resting reports that nothing is open, so that plain text may pass as it is.
func (m *machine) resting() bool {
	return m.state == ground && m.tail == "" && !m.cr && m.joiner == 0
}

// plain returns how many leading bytes of s are printable ASCII, or newline and tab where these are
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

// feed cleans one piece and appends what can be shown to dst.
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

// end closes the text: what waits for more is resolved as if nothing follows.
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

// decode reads one character; 0 bytes means that s is the start of one and ends too early. A lone
// byte 0x80-0x9F is the C1 control that it is on an 8-bit terminal. Other invalid bytes are U+FFFD,
// one for the longest start of a character (Unicode 3.9, U+FFFD substitution of maximal subparts),
// so that the bytes of a character cut in half are not taken for controls.
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

// step takes one character through the machine.
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

// visible shows what the other forms drop.
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

// show writes a character out as its number.
func (m *machine) show(dst []byte, r rune) []byte {
	m.wrote('>')
	return fmt.Appendf(dst, "<U+%04X>", r)
}

// layout handles the four characters that move the place of writing.
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

// takeBack removes the last character of the line in command output; prose ignores backspaces,
// since what was shown in an earlier piece cannot be taken back.
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

// marks counts the combining marks at the end of a text.
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

// text writes a character that is no control, after what waited for it.
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

// carriageReturn resolves one that was not part of a line end.
func (m *machine) carriageReturn(dst []byte) []byte {
	m.cr, m.joiner = false, 0
	if m.form == output {
		m.wrote('\n')
		return dst[:m.line]
	}
	return m.write(dst, '\n')
}

// faint decides about an invisible character in prose: a separator breaks the line, a joiner waits,
// the variation selector of an emoji stays, all else is dropped.
func (m *machine) faint(dst []byte, r rune) []byte {
	switch {
	case r == lineSeparator || r == paragraphSeparator:
		return m.layout(dst, '\n')
	case m.cr || m.joiner != 0: // nothing stands before it that it could belong to
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

// write appends a character and remembers it.
func (m *machine) write(dst []byte, r rune) []byte {
	m.wrote(r)
	return utf8.AppendRune(dst, r)
}

// wrote remembers the last character, for what may follow it.
func (m *machine) wrote(r rune) {
	m.prev = r
	if combining(r) {
		m.marks++
		return
	}
	m.marks = 0
}
