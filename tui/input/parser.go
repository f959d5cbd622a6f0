package input

import (
	"bytes"
	"time"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
)

// waitRest is how long the rest of a sequence or character may take that has surely begun.
const waitRest = 500 * time.Millisecond

// Parser makes events of bytes. It knows no clock: its owner calls Expire when nothing came for as
// long as Waits says.
type Parser struct {
	Emit   func(uv.Event)
	Escape time.Duration
	// Wheel has several arrows in one read be turns of the wheel.
	Wheel bool

	decoder uv.EventDecoder
	rest    []byte // the beginning of something
	paste   *paste // if nil, none is being taken
	// certain: this terminal has told of the Escape key by a sequence, so an escape byte begins
	// one.
	certain bool
	late    bool // a lone escape byte became the Escape key: its sequence may still follow
}

// Feed takes the next bytes; it keeps none of them.
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

// Waits is how long to wait for more before Expire; if zero, for ever.
func (p *Parser) Waits() time.Duration {
	switch n := len(p.rest); {
	case n == 0:
		return 0
	case p.rest[0] == esc && !p.certain && (n == 1 || n == 2 && p.rest[1] != '[' && p.rest[1] != 'O'):
		return p.Escape
	}
	return waitRest
}

// Expire gives up waiting: what is there is all there will be.
func (p *Parser) Expire() {
	b := p.rest
	p.rest = nil
	for len(b) > 0 {
		if b[0] == esc && (len(b) == 1 || len(b) == 2 && b[1] == esc) { // twice is twice, not with alt
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

// joiner binds two characters to one: what follows belongs to what is there.
const joiner = "\u200d"

// next is the length of the first thing in b; if 0, its end has not come yet.
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

// event hands on what b holds and returns how much of it that was; what nobody knows is left out.
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

// pasted takes bytes of a paste and returns those behind it.
func (p *Parser) pasted(b []byte) []byte {
	rest, done := p.paste.take(b)
	if done {
		e := p.paste.event()
		p.paste = nil
		p.Emit(e)
	}
	return rest
}

// remainder reports whether b is the rest of a sequence whose escape byte was taken for the Escape
// key: nobody types it within one read.
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

// unknown reports what has no meaning for us: sequences that nobody knows, answers that nobody
// asked for.
func unknown(e uv.Event) bool {
	switch e.(type) {
	case nil, uv.UnknownEvent, uv.UnknownCsiEvent, uv.UnknownSs3Event, uv.UnknownOscEvent, uv.UnknownDcsEvent,
		uv.UnknownSosEvent, uv.UnknownPmEvent, uv.UnknownApcEvent:
		return true
	}
	return false
}

// lines is how many arrow keys a terminal sends at least when the wheel turns by a notch. Nobody
// presses a key so often between two reads.
const lines = 3

// turns takes the arrows of a wheel that b begins with: one event for each notch. It returns their
// length; if 0, there are none.
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

// longRun is from where on typed text is one event: nobody types so much between two reads, but a
// terminal without bracketed paste sends it.
const longRun = 64

// longText is the length of the text that b begins with, when that is long.
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
