package match

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// hit counts the line from..to and stores it with its context.
func (s *Scanner) hit(from, to int) {
	s.result.Count++
	if s.keep == 0 {
		return
	}
	s.trail(from)
	for _, at := range s.before(from) {
		s.add(at, lineEnd(s.buf, at), false)
	}
	s.add(from, to, true)
	s.result.Lines[len(s.result.Lines)-1].Starts = 1
	s.keep--
	s.after = s.c.After
}

// before returns the starts of the context lines before from that were not stored yet.
func (s *Scanner) before(from int) []int {
	var starts []int
	for at := from; len(starts) < s.c.Before && at > s.storedEnd; {
		at = bytes.LastIndexByte(s.buf[:at-1], '\n') + 1
		starts = append(starts, at)
	}
	for i, j := 0, len(starts)-1; i < j; i, j = i+1, j-1 {
		starts[i], starts[j] = starts[j], starts[i]
	}
	return starts
}

// trail stores the context after the last match, up to stop.
func (s *Scanner) trail(stop int) {
	for ; s.after > 0 && s.storedEnd < stop; s.after-- {
		s.add(s.storedEnd, lineEnd(s.buf[:stop], s.storedEnd), false)
	}
}

func (s *Scanner) add(from, to int, match bool) {
	text := trimReturn(s.buf[from:to])
	switch {
	case s.c.Width == 0 || len(text) <= s.c.Width: // the usual case
		s.result.Lines = append(s.result.Lines, Line{Number: s.number(from), Text: s.texts.of(text), Column: 1, Match: match})
	case match:
		s.result.Lines = append(s.result.Lines, s.match(from, to))
	default:
		s.result.Lines = append(s.result.Lines, s.plain(from, to))
	}
	s.storedEnd = min(to+1, s.end)
}

// plain returns a context line.
func (s *Scanner) plain(from, to int) Line {
	return Line{Number: s.number(from)}.cut(trimReturn(s.buf[from:to]), s.c.Width, &s.texts)
}

// match returns a long line with the position of its match.
func (s *Scanner) match(from, to int) Line {
	text := trimReturn(s.buf[from:to])
	l := Line{Number: s.number(from), Match: true}
	l.MatchStart, l.MatchEnd, _ = s.m.Span(text)
	l.MatchStart, l.MatchEnd = clamp(l.MatchStart, len(text)), clamp(l.MatchEnd, len(text))
	return l.cut(text, s.c.Width, &s.texts)
}

// cut sets a line's text: whole, or width characters around the match.
func (l Line) cut(text []byte, width int, in *texts) Line {
	from, to := 0, len(text)
	if width > 0 && len(text) > width {
		from = l.leftEdge(text, width)
		to = forward(text, from, width)
		if to == len(text) {
			from = backward(text, to, width)
		}
	}
	l.Text = in.of(text[from:to])
	l.CutLeft, l.CutRight, l.Column = from > 0, to < len(text), from+1
	l.MatchStart, l.MatchEnd = clamp(l.MatchStart-from, to-from), clamp(l.MatchEnd-from, to-from)
	return l
}

// texts allocates strings for many lines together.
type texts struct{ piece strings.Builder }

const (
	// textsPiece is the size of an allocation in bytes.
	textsPiece = 4 << 10
	// textsLong is the length from which a text gets its own allocation.
	textsLong = textsPiece / 4
)

func (t *texts) of(text []byte) string {
	if len(text) > textsLong {
		return string(text)
	}
	if t.piece.Cap()-t.piece.Len() < len(text) {
		t.piece.Reset()
		t.piece.Grow(textsPiece)
	}
	from := t.piece.Len()
	t.piece.Write(text)
	return t.piece.String()[from:]
}

// leftEdge centers a short match and shows where a long one begins.
func (l Line) leftEdge(text []byte, width int) int {
	margin := width / 8
	if n := utf8.RuneCount(text[l.MatchStart:l.MatchEnd]); n < width {
		margin = max(margin, (width-n)/2)
	}
	return backward(text, l.MatchStart, margin)
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

// backward returns the offset n characters before at.
func backward(text []byte, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRune(text[:at])
		at -= size
	}
	return at
}
