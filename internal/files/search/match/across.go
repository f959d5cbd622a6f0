package match

import (
	"bytes"
	"context"
	"unicode/utf8"
)

// across finds the matches of a whole text. The DFA finds a match's end and a lower bound for its
// start; the machine then searches only that range. It returns false at s.pos if the DFA gave up.
func (s *Scanner) across(ctx context.Context) (bool, error) {
	text := s.buf[:s.end]
	s.sight.reset()
	for tries := 1; s.pos < s.end && !s.limitReached(); tries++ {
		if tries%64 == 0 && ctx.Err() != nil {
			return true, ctx.Err()
		}
		begun, known, ok := s.lines.seek(text, s.pos, s.skip)
		if !ok && s.lines.resets > maxResets {
			s.lines = nil
			return false, nil
		}
		if !ok {
			continue // states were reset
		}
		if known < 0 {
			break
		}
		from, to, ok := s.machine().within(text, begun, known)
		if !ok || from == s.end && s.buf[s.end-1] == '\n' {
			break // the empty text after the last line break is no line
		}
		s.series(from, to)
	}
	s.trail(s.end)
	return true, nil
}

// skip returns the start of the first line, at or after line, on which a match may begin, or -1.
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
	if s.m.group > 0 && begins > 0 { // the match may include the line break before the word
		begins = bytes.LastIndexByte(text[line:line+begins], '\n')
	}
	return line + begins + 1
}

// lacks reports whether text lacks a literal that every match contains.
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

func (s *Scanner) machine() *machine {
	if s.tail == nil {
		s.tail = newMachine(s.m.prog, s.m.group)
	}
	return s.tail
}

// seek looks for a match that begins at or after from, a line start. The match ends at or before
// known, the first such offset or -1, and begins at or after begun, a line start. skip returns the
// line to continue at if no match has begun. ok is false if there are too many states; the next
// call starts with none.
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
