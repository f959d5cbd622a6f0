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

// spans finds the matches of the whole text. After a match that ends on a later line it searches
// the rest of that line, then the next line, so that "^" matches only at line starts.
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
		s.pos = s.span(from, to)
		if s.limitReached() || s.m.once {
			break
		}
		for ok {
			from, to, ok = s.rest(from, to)
		}
	}
	s.trail(s.end)
	return nil
}

// rest finds a match that begins on a multiline match's last line and extends past that line.
func (s *Scanner) rest(from, to int) (int, int, bool) {
	end := lineEnd(s.buf[:s.end], max(from, to-1))
	if to > end || bytes.IndexByte(s.buf[from:to], '\n') < 0 {
		return 0, 0, false
	}
	for to <= end {
		next, stop, ok := s.machine().within(s.buf[:s.end], to, end)
		if !ok {
			break
		}
		if stop > end+1 {
			s.pos = s.span(next, stop)
			return next, stop, true
		}
		to = max(stop, next+1)
	}
	return 0, 0, false
}

// span stores a match's lines and returns where the next line starts.
func (s *Scanner) span(from, to int) int {
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
	return min(stop+1, s.end)
}

func (s *Scanner) keepSpan(start, stop, from, to int) {
	s.trail(start)
	for _, at := range s.before(start) {
		s.add(at, lineEnd(s.buf[:s.end], at), false)
	}
	if start < s.storedEnd && from < s.storedEnd {
		start, from = s.storedEnd, max(from, s.storedEnd) // the line was already stored for the previous match
	}
	for n := 0; start <= stop && n < maxMatchLines; n++ {
		end := lineEnd(s.buf[:stop], start)
		text := trimReturn(s.buf[start:end])
		l := Line{Number: s.number(start), Match: true, Starts: n == 0}
		l.MatchStart, l.MatchEnd = clamp(from-start, len(text)), clamp(to-start, len(text))
		s.result.Lines = append(s.result.Lines, l.cut(text, s.c.Width, &s.texts))
		start = end + 1
	}
	s.keep--
	s.storedEnd = min(stop+1, s.end)
	s.after = s.c.After
}
