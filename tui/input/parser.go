package input

import (
	"bytes"
	"time"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
)

// waitRest is how long to wait for a sequence or character that has certainly begun.
const waitRest = 500 * time.Millisecond

// Parser converts bytes to events. It has no clock: the caller must call Expire after no input for
// Waits.
type Parser struct {
	Emit   func(uv.Event)
	Escape time.Duration
	// Wheel interprets several arrow keys in one read as wheel turns.
	Wheel bool

	decoder uv.EventDecoder
	rest    []byte // incomplete input
	paste   *paste // nil outside a paste
	// certain means that this terminal has reported the Escape key by a sequence, so that an escape
	// byte always begins one.
	certain bool
	late    bool // an escape byte was reported as the Escape key, but its sequence may still follow
}

// Feed parses the next bytes and keeps no reference to them.
func (p *Parser) Feed(b []byte) {
	if p.late {
		p.late = false
		if p.remainder(b) {
			p.rest = append(p.rest, esc)
		}
	}
	if len(p.rest) > 0 {
		b = append(p.rest, b...)
		p.rest = nil
	}
	for len(b) > 0 {
		if p.paste != nil {
			b = p.pasted(b)
			continue
		}
		n := longText(b)
		if turned := p.turns(b); turned > 0 {
			n = turned
		} else if n > 0 {
			p.Emit(uv.KeyPressEvent{Code: uv.KeyExtended, Text: string(b[:n])})
		} else if n = p.next(b); n > 0 {
			n = p.event(b[:n])
		} else {
			p.rest = append([]byte(nil), b...)
			return
		}
		b = b[n:]
	}
}

// Waits returns the time to wait for more input before Expire; 0 means no limit.
func (p *Parser) Waits() time.Duration {
	switch n := len(p.rest); {
	case n == 0:
		return 0
	case p.rest[0] == esc && !p.certain && (n == 1 || n == 2 && p.rest[1] != '[' && p.rest[1] != 'O'):
		return p.Escape
	}
	return waitRest
}

// Expire parses incomplete input as it is.
func (p *Parser) Expire() {
	b := p.rest
	p.rest = nil
	for len(b) > 0 {
		if b[0] == esc && (len(b) == 1 || len(b) == 2 && b[1] == esc) { // two escape keys, not alt+escape
			p.Emit(uv.KeyPressEvent{Code: uv.KeyEscape})
			p.late = true
			b = b[1:]
			continue
		}
		n := p.next(b)
		if n == 0 {
			n = len(b)
		}
		b = b[p.event(b[:n]):]
	}
}

// joiner is the zero-width joiner: the next character belongs to the previous one.
const joiner = "\u200d"

// next returns the first item's length, or 0 if it is incomplete.
func (p *Parser) next(b []byte) int {
	if b[0] < 0xa0 || !utf8.FullRune(b) {
		return whole(b)
	}
	n, _ := p.decoder.Decode(b)
	if n == len(b) && bytes.HasSuffix(b, []byte(joiner)) {
		return 0
	}
	return max(n, 1)
}

// event emits the item in b and returns its length; it ignores unknown items.
func (p *Parser) event(b []byte) int {
	if key, ok := consoleKey(b); ok {
		p.Emit(uv.KeyPressEvent{Code: key})
		return len(b)
	}
	n, e := p.decoder.Decode(b)
	n = min(max(n, 1), len(b))
	if unknown(e) {
		if b[0] == esc || !utf8.FullRune(b) {
			return len(b)
		}
		return n
	}
	switch e := e.(type) {
	case uv.PasteStartEvent:
		p.paste = &paste{}
	case uv.MultiEvent:
		for _, one := range e {
			p.Emit(one)
		}
	case uv.KeyPressEvent:
		p.certain = p.certain || e.Code == uv.KeyEscape && n > 1 && b[n-1] == 'u'
		p.Emit(keypad(e))
	default:
		p.Emit(e)
	}
	return n
}

// pasted parses pasted bytes and returns the bytes after the paste.
func (p *Parser) pasted(b []byte) []byte {
	rest, done := p.paste.take(b)
	if done {
		e := p.paste.event()
		p.paste = nil
		p.Emit(e)
	}
	return rest
}

// remainder reports whether b is the rest of a sequence whose escape byte was reported as the
// Escape key: users do not type it within one read.
func (p *Parser) remainder(b []byte) bool {
	if len(b) < 2 || b[0] != '[' && b[0] != 'O' {
		return false
	}
	full := append([]byte{esc}, b...)
	n := whole(full)
	if n < 3 {
		return false
	}
	_, e := p.decoder.Decode(full[:n])
	return !unknown(e)
}

// unknown reports whether an event has no meaning: unknown sequences and unrequested answers.
func unknown(e uv.Event) bool {
	switch e.(type) {
	case nil, uv.UnknownEvent, uv.UnknownCsiEvent, uv.UnknownSs3Event, uv.UnknownOscEvent, uv.UnknownDcsEvent,
		uv.UnknownSosEvent, uv.UnknownPmEvent, uv.UnknownApcEvent:
		return true
	}
	return false
}

// lines is the fewest arrow keys that a terminal sends for one wheel notch. Users do not press a
// key so often between two reads.
const lines = 3

// turns emits one event per notch for leading arrow keys in b, and returns their length, or 0.
func (p *Parser) turns(b []byte) int {
	if !p.Wheel || len(b) < 3*lines || b[0] != esc || b[1] != '[' && b[1] != 'O' || b[2] != 'A' && b[2] != 'B' {
		return 0
	}
	n := 0
	for bytes.HasPrefix(b[3*n:], b[:3]) {
		n++
	}
	if n < lines {
		return 0
	}
	button := uv.MouseWheelUp
	if b[2] == 'B' {
		button = uv.MouseWheelDown
	}
	for range (n + lines - 1) / lines {
		p.Emit(uv.MouseWheelEvent{Button: button})
	}
	return 3 * n
}

// longRun is the length from which typed text becomes one event: users do not type so much between
// two reads, but a terminal without bracketed paste sends it.
const longRun = 64

// longText returns the length of a leading long text, or 0.
func longText(b []byte) int {
	n := bytes.IndexFunc(b, func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError })
	if n < 0 {
		n = len(b)
	}
	if n < longRun {
		return 0
	}
	return n
}
