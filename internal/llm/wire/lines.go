package wire

import (
	"bytes"
	"errors"
	"io"
)

// MaxLine bounds one line or event: a whole call with a large file as argument fits.
const MaxLine = 16 << 20

// ErrLong says that a line or event is longer than MaxLine.
var ErrLong = errors.New("a line without end")

// Lines cuts a stream into lines that end with LF, CR LF or CR, wherever reads split it.
type Lines struct {
	r          io.Reader
	buf        []byte
	start, end int
	searched   int // bytes after start that hold no line end
	afterCR    bool
	begun      bool
	unfinished bool
	err        error
}

// Unfinished reports whether the last line had no end: the stream stopped inside it, or right after
// it.
func (l *Lines) Unfinished() bool { return l.unfinished }

// NewLines reads lines from r.
func NewLines(r io.Reader) *Lines { return &Lines{r: r, buf: make([]byte, 4<<10)} }

// Next returns the next line without its end; it is valid until the following Next. An unfinished
// last line is returned at io.EOF, but not when the stream broke.
func (l *Lines) Next() ([]byte, error) {
	for {
		if line, ok := l.cut(); ok {
			return line, nil
		}
		if l.err == io.EOF && l.start < l.end {
			line := l.buf[l.start:l.end]
			l.start, l.searched, l.unfinished = l.end, 0, true
			return line, nil
		}
		if l.err != nil {
			return nil, l.err
		}
		l.fill()
	}
}

func (l *Lines) cut() ([]byte, bool) {
	l.skip()
	fresh := l.buf[l.start+l.searched : l.end]
	i := bytes.IndexByte(fresh, '\n')
	if i >= 0 {
		fresh = fresh[:i]
	}
	if cr := bytes.IndexByte(fresh, '\r'); cr >= 0 {
		i = cr
		l.afterCR = true
	}
	if i < 0 {
		l.searched = l.end - l.start
		return nil, false
	}
	line := l.buf[l.start : l.start+l.searched+i]
	l.start += l.searched + i + 1
	l.searched, l.begun = 0, true
	return line, true
}

// skip drops what belongs to no line: the LF of a CR LF that was cut at its CR, and a byte order
// mark.
func (l *Lines) skip() {
	if l.start == l.end {
		return
	}
	if l.afterCR && l.buf[l.start] == '\n' {
		l.start++
	}
	l.afterCR = false
	if !l.begun && l.end-l.start >= 3 {
		l.begun = true
		if bytes.HasPrefix(l.buf[l.start:l.end], []byte("\xEF\xBB\xBF")) {
			l.start += 3
			l.searched = 0
		}
	}
}

// fill reads once, after making room.
func (l *Lines) fill() {
	if l.start > 0 {
		l.end = copy(l.buf, l.buf[l.start:l.end])
		l.start = 0
	}
	if l.end == len(l.buf) {
		if l.end >= MaxLine {
			l.err = ErrLong
			return
		}
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	n, err := l.r.Read(l.buf[l.end:])
	l.end += n
	l.err = err
}
