package match

import (
	"bytes"
	"unicode/utf8"
)

// hit counts the line from..to and keeps it with its context.
func (s *Scanner) hit(from, to int) {
	s.found.Count++
	if s.keep == 0 {
		return
	}
	s.trail(from)
	for _, at := range s.before(from) {
		s.add(at, lineEnd(s.buf, at), false)
	}
	s.add(from, to, true)
	s.keep--
	s.after = s.c.After
}

// before lists the starts of the context lines in front of from that were not kept yet.
func (s *Scanner) before(from int) []int {
	var starts []int
	for at := from; len(starts) < s.c.Before && at > s.shown; {
		at = bytes.LastIndexByte(s.buf[:at-1], '\n') + 1
		starts = append(starts, at)
	}
	for i, j := 0, len(starts)-1; i < j; i, j = i+1, j-1 {
		starts[i], starts[j] = starts[j], starts[i]
	}
	return starts
}

// trail keeps the context after the last match, as far as it lies before stop.
func (s *Scanner) trail(stop int) {
	for ; s.after > 0 && s.shown < stop; s.after-- {
		s.add(s.shown, lineEnd(s.buf[:stop], s.shown), false)
	}
}

// add keeps one line, which ends at to.
func (s *Scanner) add(from, to int, match bool) {
	text := trimReturn(s.buf[from:to])
	l := Line{Number: s.number(from), Match: match, Starts: match}
	if l.late = match && s.c.Late && (s.c.Width == 0 || len(text) <= s.c.Width); match && !l.late {
		l.From, l.To, _ = s.m.Span(text)
	}
	s.found.Lines = append(s.found.Lines, l.cut(text, s.c.Width))
	s.shown = min(to+1, s.end)
}

// Place finds out where the matches lie in lines for which that was left undone: most that are kept are given up again for
// lines of an earlier file.
func (m *Matcher) Place(lines []Line) {
	for i := range lines {
		if l := &lines[i]; l.late {
			l.From, l.To, _ = m.Span([]byte(l.Text))
			l.late = false
		}
	}
}

// cut sets the text of a line: all of it, or width characters around the match.
func (l Line) cut(text []byte, width int) Line {
	from, to := 0, len(text)
	if width > 0 && len(text) > width {
		from = l.leftEdge(text, width)
		to = forward(text, from, width)
		if to == len(text) {
			from = backward(text, to, width)
		}
	}
	l.Text = string(text[from:to])
	l.CutLeft, l.CutRight, l.Column = from > 0, to < len(text), from+1
	l.From, l.To = clamp(l.From-from, to-from), clamp(l.To-from, to-from)
	return l
}

// leftEdge leaves as much before a short match as after it; of a long one it shows the start.
func (l Line) leftEdge(text []byte, width int) int {
	margin := width / 8
	if n := utf8.RuneCount(text[l.From:l.To]); n < width {
		margin = max(margin, (width-n)/2)
	}
	return backward(text, l.From, margin)
}

func clamp(n, limit int) int { return max(0, min(n, limit)) }

// forward returns the place n characters after at.
func forward(text []byte, at, n int) int {
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at
}

// backward returns the place n characters before at.
func backward(text []byte, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRune(text[:at])
		at -= size
	}
	return at
}
