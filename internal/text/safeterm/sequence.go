package safeterm

// state is the position in an escape sequence (ECMA-48).
type state uint8

const (
	ground    state = iota // plain text
	escape                 // after ESC
	designate              // after ESC and intermediate bytes: one final byte
	control                // inside CSI: parameters, intermediates, one final byte
	stringed               // inside OSC, DCS, APC, PM or SOS, up to the terminator
)

const (
	bel, bs, can, sub, esc, del = 0x07, 0x08, 0x18, 0x1A, 0x1B, 0x7F

	c1DCS, c1SOS, c1CSI, c1ST, c1OSC, c1PM, c1APC = 0x90, 0x98, 0x9B, 0x9C, 0x9D, 0x9E, 0x9F
)

// inside processes a character in a sequence. It returns false if the character ends the sequence
// without being part of it.
func (m *machine) inside(r rune) bool {
	switch {
	case r == '\n' || r == esc:
		m.state = ground
		return false
	case r == can || r == sub:
		m.state = ground
		return true
	case m.state == stringed:
		if r == bel || r == c1ST {
			m.state = ground
		}
		return true
	case r < ' ' || r == del:
		return true
	case m.state == escape:
		return m.afterEscape(r)
	case m.state == designate:
		return m.final(r, '/')
	}
	return m.final(r, '?')
}

// afterEscape classifies an escape sequence by the character after ESC.
func (m *machine) afterEscape(r rune) bool {
	switch r {
	case '[':
		m.state = control
	case ']', 'P', 'X', '^', '_':
		m.state = stringed
	default:
		m.state = designate
		return m.final(r, '/')
	}
	return true
}

// final consumes bytes up to last; any other ends the sequence, and belongs to it if ASCII.
func (m *machine) final(r, last rune) bool {
	if r <= last {
		return true
	}
	m.state = ground
	return r < del
}

// open drops a control character and enters the sequence it starts, if any.
func (m *machine) open(r rune) {
	switch r {
	case esc:
		m.state = escape
	case c1CSI:
		m.state = control
	case c1OSC, c1DCS, c1APC, c1PM, c1SOS:
		m.state = stringed
	}
}
