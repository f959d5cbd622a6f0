package match

import (
	"bytes"
	"context"
	"unicode/utf8"
)

// across finds the matches of a whole text with the automaton, which tells up to where one is known
// and from where on it may have begun: that part alone is for the machine. It reports false where
// the automaton has given up, at s.pos.
func (s *Scanner) across(ctx context.Context) (bool, error) {
	text := s.buf[:s.end]
	s.sight.reset()
	for tries := 1; s.pos < s.end && !s.enough(); tries++ {
		if tries%64 == 0 && ctx.Err() != nil {
			return true, ctx.Err()
		}
		begun, known, ok := s.lines.seek(text, s.pos, s.skip)
		if !ok && s.lines.resets > maxResets {
			s.lines = nil
			return false, nil
		}
		if !ok {
			continue // it has forgotten its states
		}
		if known < 0 {
			break
		}
		from, to, ok := s.machine().within(text, begun, known)
		if !ok || from == s.end && s.buf[s.end-1] == '\n' {
			break // the nothing after the last line break is no line
		}
		s.pos = s.span(from, to)
		for ok && !s.enough() {
			from, to, ok = s.rest(from, to)
		}
	}
	s.trail(s.end)
	return true, nil
}

// skip returns the first line at or after one on which a match may begin, by where the lines start;
// -1 if there is none.
func (s *Scanner) skip(line int) int {
	if s.m.need == nil {
		return line
	}
	text := s.buf[:s.end]
	at, _ := s.sight.next(text, line)
	if at < 0 {
		return -1
	}
	begins := bytes.LastIndexByte(text[line:at], '\n')
	if s.m.group > 0 && begins > 0 { // with the line break in front of the word
		begins = bytes.LastIndexByte(text[line:line+begins], '\n')
	}
	return line + begins + 1
}

// lacks reports that a text has not got what every match contains.
func (s *Scanner) lacks(text []byte) bool {
	if s.also != nil {
		s.also.reset()
		if at, _ := s.also.next(text, s.pos); at < 0 {
			return true
		}
	}
	if s.m.need == nil {
		return false
	}
	s.sight.reset()
	at, _ := s.sight.next(text, s.pos)
	return at < 0
}

// machine finds where a match lies that is known to be there.
func (s *Scanner) machine() *machine {
	if s.tail == nil {
		s.tail = newMachine(s.m.prog, s.m.group)
	}
	return s.tail
}

// seek looks in a text for a match that begins at or after from, the start of a line, and ends
// before or at known, the first such place; -1 if there is none. It begins at or after begun, the
// start of a line. skip says at which line to go on where no match has begun. It is not ok when
// there are too many states; the next time it starts afresh.
func (d *dfa) seek(text []byte, from int, skip func(line int) int) (begun, known int, ok bool) {
	if begun = skip(from); begun < 0 {
		return 0, -1, true
	}
	state := int32(stateStart)
	if begun > 0 {
		state = d.state(nil, kindBreak)
	}
	for i := begun; i < len(text); {
		b, next, size := text[i], int32(stateUnknown), 1
		if b < utf8.RuneSelf {
			if next = d.next[int(state)+int(b)]; next == stateUnknown {
				next = d.step(state, rune(b))
			}
		} else {
			var r rune
			r, size = utf8.DecodeRune(text[i:])
			next = d.beyond(state, r)
		}
		if next <= stateDead {
			return begun, i, next == stateMatch
		}
		state = next
		i += size
		if b == '\n' && i < len(text) && len(d.states[state/columns].set) == 0 {
			if begun = skip(i); begun < 0 {
				return 0, -1, true
			}
			i = begun
		}
	}
	if matches, known := d.end(state); !matches {
		return 0, -1, known
	}
	return begun, len(text), true
}
