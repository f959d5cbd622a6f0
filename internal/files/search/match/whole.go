package match

import (
	"bytes"
	"context"
	"io"
)

// maxMatchLines bounds the lines stored for a match.
const maxMatchLines = 50

// whole reads the file completely, so that matches may span lines.
func (s *Scanner) whole(ctx context.Context, r io.Reader) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		next, atEnd, err := s.read(r)
		if err != nil || s.result.Skip != Searched {
			return err
		}
		if r = next; atEnd {
			break
		}
		if s.end >= MaxMultiline {
			s.result.Skip = TooLarge
			return nil
		}
		if s.end == len(s.buf) {
			if err := s.grow(ctx, min(4*len(s.buf), MaxMultiline)); err != nil {
				return err
			}
		}
	}
	return s.spans(ctx)
}

// spans finds the matches of the whole text, each search from the start of a line.
func (s *Scanner) spans(ctx context.Context) error {
	if s.lacks(s.buf[:s.end]) {
		return nil
	}
	if s.lines != nil {
		if done, err := s.across(ctx); done || err != nil {
			return err
		}
	}
	span := s.m.span
	if s.m.bounds && !isASCII(s.buf[:s.end]) {
		span = newMachine(s.m.prog, s.m.group).find
	}
	for s.pos < s.end {
		if err := ctx.Err(); err != nil {
			return err
		}
		from, to, ok := span(s.buf[s.pos:s.end])
		if !ok {
			break
		}
		from, to = s.pos+from, s.pos+to
		if from == s.end && s.end > 0 && s.buf[s.end-1] == '\n' {
			break // the empty text after the last line break is no line
		}
		s.series(from, to)
		if s.limitReached() || s.m.once {
			break
		}
	}
	s.trail(s.end)
	return nil
}

// series takes a match and those that follow it up to the start of a line, each counted by itself.
// An empty match right behind another is none.
func (s *Scanner) series(from, to int) {
	for ok := true; ok && !s.limitReached(); {
		if from < to || s.result.Count == 0 || from != s.matchEnd {
			s.span(from, to)
			s.matchEnd = to
		}
		s.pos = to
		if from == to {
			s.pos = forward(s.buf[:s.end], to, 1)
		}
		if s.m.once || s.pos >= s.end || s.pos > 0 && s.buf[s.pos-1] == '\n' {
			return
		}
		end := lineEnd(s.buf[:s.end], s.pos)
		if next := s.skip(s.pos); next < 0 || next > end {
			ok = false
		} else {
			from, to, ok = s.machine().within(s.buf[:s.end], s.pos, end)
			ok = ok && from < s.end
		}
		if !ok {
			s.pos = min(end+1, s.end)
		}
	}
}

// span counts a match and stores its lines.
func (s *Scanner) span(from, to int) {
	s.result.Count++
	start := bytes.LastIndexByte(s.buf[:from], '\n') + 1
	last := max(from, to-1) // a match that ends with a line break does not include the next line
	if to == from {
		last = from
	}
	stop := lineEnd(s.buf[:s.end], last)
	if s.keep > 0 {
		s.keepSpan(start, stop, from, to)
	}
}

func (s *Scanner) keepSpan(start, stop, from, to int) {
	s.trail(start)
	for _, at := range s.before(start) {
		s.add(at, lineEnd(s.buf[:s.end], at), false)
	}
	begins := int32(1)
	if start < s.storedEnd && from < s.storedEnd { // the line was already stored for the previous match
		s.result.Lines[len(s.result.Lines)-1].Starts++
		start, from, begins = s.storedEnd, max(from, s.storedEnd), 0
	}
	for n := 0; start <= stop && n < maxMatchLines; n++ {
		end := lineEnd(s.buf[:stop], start)
		text := trimReturn(s.buf[start:end])
		l := Line{Number: s.number(start), Match: true}
		if n == 0 {
			l.Starts = begins
		}
		l.MatchStart, l.MatchEnd = clamp(from-start, len(text)), clamp(to-start, len(text))
		s.result.Lines = append(s.result.Lines, l.cut(text, s.c.Width, &s.texts))
		start = end + 1
	}
	s.keep--
	s.storedEnd = min(stop+1, s.end)
	s.after = s.c.After
}
