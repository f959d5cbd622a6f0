package match

import (
	"bytes"
	"context"
	"io"
	"unicode/utf8"
)

// What is kept of a line that does not fit into the buffer.
const (
	// longShown is how many characters of such a line are kept where Config.Width says all.
	longShown = 4 << 10
	// longAround is how many bytes on each side of where a match was noticed its line is cut from.
	longAround = 64 << 10
)

// longLine is a line that does not fit into the buffer: it is searched piece by piece while it goes
// by. All places are those of the scanner's buffer.
type longLine struct {
	*Scanner
	number  int
	left    int    // the first byte of the line that is still in the buffer
	passed  int    // bytes of the line that have left it
	at      int    // the line is searched up to here
	state   int32  // of the automaton, at this place
	where   int    // where a match ends, or of a literal begins; if -1, none so far
	told    bool   // it was counted
	kept    bool   // and kept, because that was asked for
	earlier []Line // context in front of the line, as far as nothing shows it yet
	head    Line   // its beginning, as context of others
}

// lighten makes room in a full buffer by holding the context in front of the line that is read as
// lines, and reports whether there was any.
func (s *Scanner) lighten() bool {
	if s.pos == 0 {
		return false
	}
	if s.keep > 0 {
		s.earlier = s.context(s.pos)
	}
	s.number(s.pos)
	s.drop(s.pos)
	return true
}

// drop lets go of the first bytes of the buffer, up to the start of the line that is to be searched
// next.
func (s *Scanner) drop(from int) {
	copy(s.buf, s.buf[from:s.end])
	s.gone += from
	s.end -= from
	s.pos, s.shown, s.counted = 0, 0, 0
}

// long searches the line at s.pos, which fills the buffer, and what follows until the line has
// ended.
func (s *Scanner) long(ctx context.Context, r io.Reader) (_ io.Reader, atEnd bool, err error) {
	if !s.m.alone() && s.slow == nil {
		if s.slow = newPatientDFA(s.m.prog); s.slow == nil {
			s.found.Skip = TooLarge
			return r, false, nil
		}
	}
	l := s.newLongLine()
	for {
		stop, ended := l.stop(atEnd)
		if err := l.look(ctx, stop, ended); err != nil {
			return r, atEnd, err
		}
		if l.where >= 0 && !l.told && (ended || s.keep == 0 || stop-l.where >= l.around()) {
			l.tell(stop, ended)
		}
		if ended || s.enough() {
			l.finish(stop)
			return r, atEnd, nil
		}
		l.slide()
		if r, atEnd, err = s.read(r); err != nil || s.found.Skip != Searched {
			return r, atEnd, err
		}
	}
}

func (s *Scanner) newLongLine() *longLine {
	l := &longLine{Scanner: s, left: s.pos, at: s.pos, state: stateStart, where: -1}
	if s.keep > 0 {
		l.earlier = s.context(s.pos)
	}
	if l.number = s.number(s.pos); s.keep == 0 && s.after == 0 {
		return l
	}
	width := l.width()
	text := s.buf[s.pos:min(s.end, s.pos+(width+1)*utf8.UTFMax)]
	l.head = Line{Number: l.number}.cut(text[:len(text)-incomplete(text)], width, &l.texts)
	return l
}

func (l *longLine) width() int {
	if l.c.Width == 0 {
		return longShown
	}
	return l.c.Width
}

// around is longAround, or less where a test made the buffer small.
func (l *longLine) around() int { return min(longAround, len(l.buf)/4) }

// stop returns how far the line goes in the buffer, and whether it ends there.
func (l *longLine) stop(atEnd bool) (int, bool) {
	if n := bytes.IndexByte(l.buf[l.at:l.end], '\n'); n >= 0 {
		return l.at + n, true
	}
	return l.end, atEnd
}

// look searches on up to stop.
func (l *longLine) look(ctx context.Context, stop int, ended bool) error {
	switch {
	case l.where >= 0 || l.state == stateDead:
		l.at = stop
	case l.m.alone():
		l.literal(stop)
	default:
		return l.automaton(ctx, stop, ended)
	}
	return ctx.Err()
}

// literal looks for what is all of a match. One that begins here may end in the next piece.
func (l *longLine) literal(stop int) {
	l.sight.reset()
	if at, _ := l.sight.next(l.buf[:stop], l.at); at >= 0 {
		l.where, l.at = at, stop
		return
	}
	l.at = max(l.at, stop-l.m.need.longest()+1)
}

// pieceAtOnce is how many bytes are searched between two looks at whether the search was aborted;
// fewer where a test made the buffer small.
const pieceAtOnce = 64 << 10

// automaton goes on with the line. What may not be complete, a character or what ends the line, is
// left for the next piece.
func (l *longLine) automaton(ctx context.Context, stop int, ended bool) error {
	limit := stop
	switch {
	case ended:
		limit = l.at + len(trimReturn(l.buf[l.at:stop]))
	case l.at < stop && l.buf[stop-1] == '\r':
		limit--
	default:
		limit -= incomplete(l.buf[l.at:stop])
	}
	for l.at < limit {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(limit, l.at+min(pieceAtOnce, len(l.buf)/8))
		if to < limit {
			to -= incomplete(l.buf[l.at:to])
		}
		used := 0
		l.state, used = l.slow.feed(l.state, l.buf[l.at:to])
		switch l.state {
		case stateMatch:
			l.where, l.at = l.at+used, stop
			return nil
		case stateDead:
			l.at = stop
			return nil
		}
		l.at = to
	}
	if ended {
		if l.slow.ends(l.state, l.m.returns && limit < stop) {
			l.where = limit
		}
		l.at = stop
	}
	return nil
}

// incomplete is how many bytes at the end may be the beginning of a character.
func incomplete(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n]; utf8.RuneStart(last) {
			if last >= utf8.RuneSelf && !utf8.FullRune(text[len(text)-n:]) {
				return n
			}
			break
		}
	}
	return 0
}

// tell counts the line and keeps an excerpt around its match.
func (l *longLine) tell(stop int, ended bool) {
	l.told = true
	l.found.Count++
	if l.keep == 0 {
		return
	}
	l.found.Lines = append(append(l.found.Lines, l.earlier...), l.excerpt(stop, ended))
	l.kept = true
	l.keep--
	l.after = l.c.After
}

// excerpt is the line, cut to what lies around its match.
func (l *longLine) excerpt(stop int, ended bool) Line {
	if ended {
		stop -= len(l.buf[l.left:stop]) - len(trimReturn(l.buf[l.left:stop]))
	}
	from, to := max(l.left, l.where-l.around()), min(stop, l.where+l.around())
	for n := 0; from > l.left && n < utf8.UTFMax-1 && !utf8.RuneStart(l.buf[from]); n++ {
		from++
	}
	if to < stop {
		to -= incomplete(l.buf[from:to])
	}
	text := l.buf[from:to]
	before := l.passed + from - l.left
	line := Line{Number: l.number, Match: true, Starts: true}
	line.From, line.To = l.m.within(text, before > 0, clamp(l.where-from, len(text)))
	line = line.cut(text, l.width(), &l.texts)
	line.Column += before
	line.CutLeft, line.CutRight = line.CutLeft || before > 0, line.CutRight || to < stop || !ended
	return line
}

// within finds the match that was noticed at a place of a text, which is a part of a line. Where it
// began before the part, nothing but the place is known.
func (m *Matcher) within(text []byte, opened bool, where int) (from, to int) {
	first := 0
	if opened && len(text) > 0 {
		_, first = utf8.DecodeRune(text)
	}
	from, to, ok := newMachine(m.prog, m.group).within(text, first, where)
	if !ok {
		return where, where
	}
	return from, to
}

// slide makes room in the buffer for more of the line.
func (l *longLine) slide() {
	from := max(l.left, l.at-l.around())
	if l.where >= 0 && !l.told {
		from = max(l.left, l.where-l.around())
		l.where -= from
	}
	l.passed += from - l.left
	copy(l.buf, l.buf[from:l.end])
	l.gone += from
	l.end, l.at, l.left = l.end-from, l.at-from, 0
}

// finish puts the scanner behind the line.
func (l *longLine) finish(stop int) {
	s := l.Scanner
	size := l.passed + stop - l.left
	if stop > l.left && l.buf[stop-1] == '\r' {
		size--
	}
	l.head.Text = l.head.Text[:min(len(l.head.Text), size)]
	l.head.CutRight = len(l.head.Text) < size
	switch {
	case l.kept:
		s.earlier = nil
	case s.after > 0:
		s.found.Lines, s.earlier = append(s.found.Lines, l.head), nil
		s.after--
	case s.keep > 0:
		s.earlier = append(l.earlier, l.head)
		s.earlier = s.earlier[max(0, len(s.earlier)-s.c.Before):]
	}
	s.drop(min(stop+1, s.end))
	s.line = l.number
}
