package match

import (
	"bytes"
	"context"
	"io"
)

// maxMatchLines bounds the lines kept of one match that spans many.
const maxMatchLines = 50

// whole searches a file at once, so that matches may span lines.
func (s *Scanner) whole(ctx context.Context, r io.Reader) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		next, atEnd, err := s.read(r)
		if err != nil || s.found.Skip != Searched {
			return err
		}
		if r = next; atEnd {
			break
		}
		if s.end >= MaxMultiline {
			s.found.Skip = TooLarge
			return nil
		}
		if s.end == len(s.buf) {
			s.grow(2 * len(s.buf))
		}
	}
	return s.spans(ctx)
}

// spans finds the matches of the whole text. The next one is looked for from the line after the last,
// so that "^" means what it says.
func (s *Scanner) spans(ctx context.Context) error {
	if s.m.need != nil {
		s.sight.reset()
		if at, _ := s.sight.next(s.buf[:s.end], s.pos); at < 0 {
			return nil
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
			break // the nothing after the last line break is no line
		}
		s.pos = s.span(from, to)
		if s.c.First || s.m.once {
			break
		}
	}
	s.trail(s.end)
	return nil
}

// span keeps the lines of one match and returns where the line after them begins.
func (s *Scanner) span(from, to int) int {
	s.found.Count++
	start := bytes.LastIndexByte(s.buf[:from], '\n') + 1
	last := max(from, to-1) // a match that ends with a line break does not reach the next line
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
	for n := 0; start <= stop && n < maxMatchLines; n++ {
		end := lineEnd(s.buf[:stop], start)
		text := trimReturn(s.buf[start:end])
		l := Line{Number: s.number(start), Match: true, Starts: n == 0}
		l.From, l.To = clamp(from-start, len(text)), clamp(to-start, len(text))
		s.found.Lines = append(s.found.Lines, l.cut(text, s.c.Width))
		start = end + 1
	}
	s.keep--
	s.shown = min(stop+1, s.end)
	s.after = s.c.After
}
