package match

import (
	"bytes"
	"context"
	"errors"
	"io"
)

// Sizes in bytes.
const (
	// firstRead suffices for nearly every file: most are shorter, and binaries contain a NUL early.
	firstRead = 64 << 10
	// window is the rolling buffer's usual size, from the second read on.
	window = 256 << 10
	// largeBuffer is the size from which buffers are shared: a search has only one for all workers.
	largeBuffer = 1 << 20
	// maxContext bounds the buffered context before a line.
	maxContext = window / 2
	// MaxLine is the longest line searched; a file with a longer one is too large.
	MaxLine = 16 << 20
	// MaxMultiline is the largest file accepted by a multiline search.
	MaxMultiline = 8 << 20
)

// Scanner searches files one after another, reusing its buffers. It is not safe for concurrent use.
type Scanner struct {
	m     *Matcher
	c     Config
	sight *placeScanner
	also  *placeScanner // candidates for Matcher.also; may be nil
	dfa   *dfa          // if nil, regexp tests the lines
	lines *dfa          // finds matches that span lines; if nil, regexp does
	tail  *machine      // finds their exact position

	first, window, maxLine int // bytes; smaller in tests

	buf      []byte
	usual    []byte // the usual buffer while buf is a larger one
	large    bool   // buf is the shared large buffer
	source   io.Reader
	begun    int // value of gone when source began
	pos      int // where to search next: the start of a line
	matchEnd int // multiline: where the last match ended
	end      int // end of the data in buf
	counted  int // offset up to which lines are counted in line
	line     int

	keep      int // matches whose lines are still to be stored
	storedEnd int // where the last stored line ends
	after     int // context lines still to be stored after shown
	texts     texts
	spare     []Line // reusable memory for lines
	discarded int    // bytes that have left the buffer
	nuls      int    // NUL runs so far
	result    FileResult

	nulBytes int  // NUL bytes read, holes excluded
	text     bool // a byte other than NUL was read
}

// NewScanner returns a Scanner for one worker.
func NewScanner(m *Matcher, c Config) *Scanner {
	s := &Scanner{m: m, c: c, sight: newSighting(m.need), first: firstRead, window: window, maxLine: MaxLine}
	if !m.multiline && (m.need == nil || !m.need.alone()) {
		s.dfa = newDFA(m.prog)
	}
	if m.multiline && !m.once {
		s.lines = newDFA(m.prog)
	}
	if m.also != nil {
		s.also = newSighting(m.also)
	}
	return s
}

// Run searches r and stores the lines of up to keep matches. The error is r's or ctx's.
func (s *Scanner) Run(ctx context.Context, r io.Reader, keep int) (FileResult, error) {
	s.reset(keep)
	if s.m.multiline {
		return s.conclude(s.whole(ctx, r))
	}
	return s.conclude(s.rolling(ctx, r))
}

func (s *Scanner) conclude(err error) (FileResult, error) {
	s.shrink()
	s.settle()
	if err != nil {
		return FileResult{}, err
	}
	if s.result.Skip != Searched {
		return FileResult{Skip: s.result.Skip}, nil
	}
	return s.result, nil
}

// linesHeld bounds the lines whose memory is reused.
const linesHeld = 1 << 10

// settle copies the stored lines to an exactly sized slice.
func (s *Scanner) settle() {
	lines := s.result.Lines
	if s.spare = nil; cap(lines) <= linesHeld {
		s.result.Lines = append([]Line(nil), lines...)
		clear(lines) // releases the texts
		s.spare = lines
	}
}

func (s *Scanner) reset(keep int) {
	s.pos, s.end, s.counted, s.line = 0, 0, 0, 0
	if s.buf == nil {
		s.buf = newBuffer(min(s.first, s.window))
	}
	s.keep, s.storedEnd, s.after = keep, 0, 0
	s.discarded, s.nuls, s.nulBytes, s.text = 0, 0, 0, false
	s.result = FileResult{Lines: s.spare[:0]}
}

// rolling searches line by line through a buffer of whole lines.
func (s *Scanner) rolling(ctx context.Context, r io.Reader) error {
	s.source, s.begun = r, s.discarded
	for atEnd := false; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if !atEnd {
			if r, atEnd, err = s.read(r); err != nil || s.result.Skip != Searched {
				return err
			}
		}
		stop := s.end
		if !atEnd {
			stop = s.pos + bytes.LastIndexByte(s.buf[s.pos:s.end], '\n') + 1
		}
		if err := s.region(ctx, stop); err != nil {
			return err
		}
		if atEnd || s.limitReached() {
			return nil
		}
		if err := s.roll(ctx); err != nil {
			return err
		}
		if s.end == len(s.buf) {
			s.result.Skip = TooLarge
			return nil
		}
	}
}

// read fills the buffer and reports whether the end was reached. The first read handles the byte
// order mark and may return another reader.
func (s *Scanner) read(r io.Reader) (io.Reader, bool, error) {
	start, goal := s.end, len(s.buf)
	if s.discarded+start == 0 {
		goal = min(s.first, goal)
	}
	atEnd := false
	for s.end < goal && !atEnd {
		n, err := r.Read(s.buf[s.end:goal])
		s.end += n
		if atEnd = errors.Is(err, io.EOF); err != nil && !atEnd {
			return r, false, err
		}
	}
	if s.discarded+start == 0 && s.result.Decode == "" {
		if decoded := s.mark(r); decoded != nil {
			return s.read(decoded)
		}
	}
	if block := s.buf[start:s.end]; bytes.IndexByte(block, 0) >= 0 {
		s.result.NULs = true
		if s.skipHole(r, block) {
			block = bytes.TrimRight(block, "\x00")
		}
		if s.strange(block) {
			s.result.Skip = Binary
		}
	} else if len(block) > 0 {
		s.text = true
	}
	if atEnd && s.result.NULs && !s.text {
		s.result.Skip = Binary
	}
	return r, atEnd, nil
}

func (s *Scanner) limitReached() bool {
	return s.result.Count > 0 && (s.c.First || s.result.Count == s.c.Limit)
}

// region searches the lines up to stop, the end of a line.
func (s *Scanner) region(ctx context.Context, stop int) error {
	if s.m.need != nil {
		s.sight.reset()
	}
	for tested := 1; s.pos < stop; tested++ {
		if tested%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at, known := s.candidate(stop)
		if at < 0 {
			s.pos = stop
			break
		}
		from := s.pos + bytes.LastIndexByte(s.buf[s.pos:at], '\n') + 1
		to := lineEnd(s.buf[:stop], at)
		if known == certain || s.fits(s.buf[from:to]) {
			s.hit(from, to)
		}
		s.pos = min(to+1, stop)
		if s.limitReached() {
			break
		}
	}
	s.trail(s.pos)
	return nil
}

// fits tests one line, including a \r at its end.
func (s *Scanner) fits(line []byte) bool {
	text := trimReturn(line)
	return s.matches(text) || s.m.returns && len(text) < len(line) && s.matches(line)
}

func (s *Scanner) matches(line []byte) bool {
	if s.dfa != nil {
		if matches, known := s.dfa.line(line); known {
			return matches
		}
		if s.dfa.resets > maxResets {
			s.dfa = nil
		}
	}
	return s.m.match(line)
}

// candidate returns an offset in the next line that may match, or -1.
func (s *Scanner) candidate(stop int) (int, verdict) {
	if s.m.need == nil {
		return s.pos, perhaps
	}
	return s.sight.next(s.buf[:stop], s.pos)
}

// lineEnd returns the end of the line at an offset, without its line break.
func lineEnd(text []byte, at int) int {
	n := bytes.IndexByte(text[at:], '\n')
	if n < 0 {
		return len(text)
	}
	return at + n
}

func trimReturn(line []byte) []byte {
	if n := len(line) - 1; n >= 0 && line[n] == '\r' {
		return line[:n]
	}
	return line
}

// roll moves the data still needed to the front of the buffer, and grows a buffer that is full of
// it. Buffers grow up to the maximum line length.
func (s *Scanner) roll(ctx context.Context) error {
	from := s.lookBack()
	s.number(from)
	copy(s.buf, s.buf[from:s.end])
	s.discarded += from
	s.end, s.pos, s.counted, s.storedEnd = s.end-from, s.pos-from, s.counted-from, max(0, s.storedEnd-from)
	switch {
	case len(s.buf) < s.window:
		return s.grow(ctx, s.window)
	case s.end == len(s.buf) && len(s.buf) < s.maxLine:
		return s.grow(ctx, s.longer())
	}
	return nil
}

// lookBack returns the start of the lines before pos that a later match may show as context.
func (s *Scanner) lookBack() int {
	from := s.pos
	for range s.c.Before {
		if from == 0 || s.keep == 0 || s.pos-from > maxContext {
			break
		}
		from = bytes.LastIndexByte(s.buf[:from-1], '\n') + 1
	}
	return from
}

func (s *Scanner) number(place int) int {
	if place > s.counted {
		s.line += bytes.Count(s.buf[s.counted:place], []byte{'\n'})
		s.counted = place
	}
	return s.line + 1
}
