package textparse

import (
	"slices"
	"strings"
	"sync"

	"adze/session"
)

const (
	// Limit for one block, in bytes. A longer one and everything after it is text.
	maxHeld = 1 << 20
	// Limit for checks of one block, after which the rest is text.
	maxTries = 256
	// Limit for openings that are tried again if a message ends inside a block.
	maxLate = 64
	// The length of a block's beginning that is checked for a name, in bytes.
	probed   = 256
	starters = "<[{`"
)

type blockCall struct{ name, arguments string }

type scanner struct {
	tools *tools
	forms map[byte][]*form // by first byte
	ready []session.Chunk
	text  strings.Builder // comes after ready

	buf        []byte // from start: undecided; from pos: unread
	start, pos int
	alive      []*form
	balance    balance
	ended      bool // no more text will come
	late       int
	tries      int
	off        bool // the rest is text

	blocks []block
	loose  int // from this block on, more text would turn gaps and doubtful blocks into text
	line   line
}

// formsByStart are the forms by the first byte of their opening marks. They must not be changed.
var formsByStart = sync.OnceValue(func() map[byte][]*form {
	by := map[byte][]*form{}
	for _, f := range forms() {
		for _, o := range f.opens {
			if same := by[o[0]]; !slices.Contains(same, &f) {
				by[o[0]] = append(same, &f)
			}
		}
	}
	return by
})

// take returns the chunks decided since the last call.
func (s *scanner) take() []session.Chunk {
	s.flush()
	out := s.ready
	s.ready = nil
	return out
}

// feed reads a piece of the message.
func (s *scanner) feed(text string) {
	if s.start > 0 && s.start == len(s.buf) {
		s.buf, s.start, s.pos = s.buf[:0], 0, 0
	}
	s.buf = append(s.buf, text...)
	s.scan()
}

func (s *scanner) scan() {
	for s.pos < len(s.buf) {
		if s.start == s.pos {
			s.skip()
			if s.pos == len(s.buf) {
				return
			}
			s.open()
			continue
		}
		s.push(s.buf[s.pos])
	}
}

// skip passes text in which no markup can begin.
func (s *scanner) skip() {
	rest := s.buf[s.pos:]
	n := len(rest)
	if !s.off {
		n = starting(rest)
	}
	s.plain(rest[:n])
	s.pos += n
	s.start = s.pos
}

// open starts holding text back at a byte that can begin markup, if allowed here.
func (s *scanner) open() {
	s.alive = s.alive[:0]
	if s.line.span == 0 && s.buf[s.pos] != '`' {
		s.line.span, s.line.tickRun = s.line.tickRun, 0
	}
	if !s.line.quoted() {
		for _, f := range s.forms[s.buf[s.pos]] {
			if !f.line || s.line.blank {
				s.alive = append(s.alive, f)
			}
		}
	}
	s.balance, s.tries = balance{}, 0
	s.push(s.buf[s.pos])
}

// push adds one byte to the held text and decides.
func (s *scanner) push(b byte) {
	s.pos++
	s.balance.add(b)
	held := s.buf[s.start:s.pos]
	if len(held) <= probed {
		beginning := string(held)
		s.alive = slices.DeleteFunc(s.alive, func(f *form) bool { return !s.possible(f, beginning) })
	}
	switch {
	case len(s.alive) == 0:
		s.reject(1)
		return
	case len(held) > maxHeld || s.tries > maxTries:
		s.off = true
		s.reject(1)
		return
	}
	for _, f := range s.alive {
		if f.ends(held, s.balance) && s.decide(f, string(held)) {
			return
		}
	}
}

func (s *scanner) possible(f *form, held string) bool {
	if len(held) == 1 {
		return true // open chose it by this byte
	}
	for _, opening := range f.opens {
		if strings.HasPrefix(opening, held) {
			return true
		}
		if rest, ok := strings.CutPrefix(held, opening); ok {
			return f.probe(s, opening, rest)
		}
	}
	return false
}

// decide asks a form about a block. It returns false if more text is needed.
func (s *scanner) decide(f *form, held string) bool {
	s.tries++
	read := f.read
	if read == nil {
		read = f.marked
	}
	r := read(s, held)
	switch r.verdict {
	case wait:
		return false
	case no:
		s.reject(len(held) - r.rest)
		return true
	}
	s.accept(f, held, r)
	return true
}

// reject turns the first n held bytes into text and reads the rest again.
func (s *scanner) reject(n int) {
	s.plain(s.buf[s.start : s.start+n])
	s.start += n
	s.pos = s.start
}

func (s *scanner) say(text string) { s.text.WriteString(text) }

func (s *scanner) flush() {
	if s.text.Len() > 0 {
		s.ready = append(s.ready, session.Text{Delta: s.text.String()})
		s.text.Reset()
	}
}

// finish ends the message. If well is false, everything is text.
func (s *scanner) finish(well bool) []blockCall {
	s.ended = true
	tail := cutEndTokens(s.buf[s.start:])
	s.buf = s.buf[:len(s.buf)-len(tail)]
	s.decideAll(well)
	s.buf = append(s.buf, tail...)
	s.scan()
	s.decideAll(well)
	var calls []blockCall
	for _, b := range s.blocks {
		calls = append(calls, b.calls...)
	}
	if well && len(calls) > 0 {
		return calls
	}
	for _, b := range s.blocks {
		if !b.hidden {
			s.say(b.raw)
		}
	}
	return nil
}

// decideAll decides about all held text at the end of the message.
func (s *scanner) decideAll(well bool) {
	for s.start < len(s.buf) {
		if !well || s.off || s.late > maxLate {
			s.reject(len(s.buf) - s.start)
			break
		}
		s.late++
		s.last()
		s.scan()
	}
}

// cutEndTokens returns the text from the first end-of-message token on: some servers print it, and
// a block without its end mark is complete before it.
func cutEndTokens(text []byte) string {
	rest := string(text)
	for {
		before := strings.TrimRight(rest, space)
		shorter := before
		for _, token := range endTokens() {
			shorter = strings.TrimSuffix(shorter, token)
		}
		if shorter == before {
			return string(text[len(rest):])
		}
		rest = shorter
	}
}

// last decides about one held block at the end of the message.
func (s *scanner) last() {
	held := s.buf[s.start:]
	for _, f := range s.alive {
		if f.begun(held) && s.decide(f, string(held)) {
			return
		}
	}
	s.reject(1)
}
