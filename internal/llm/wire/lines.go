package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine limits a line or event in bytes: a call with a large file as argument fits.
const MaxLine = 16 << 20

// ErrLong means that a line or event is longer than MaxLine.
var ErrLong = errors.New("a line without end")

// The byte order mark that some servers send first.
const mark = "\xEF\xBB\xBF"

// Lines splits a stream into lines that end with LF, CR LF or CR, like WHATWG event streams.
type Lines struct {
	scanner    *bufio.Scanner
	searched   int  // bytes of the next line without a line end
	afterCR    bool // skip a following LF
	begun      bool
	unfinished bool
}

// NewLines returns a reader of lines from r.
func NewLines(r io.Reader) *Lines {
	l := &Lines{scanner: bufio.NewScanner(r)}
	l.scanner.Buffer(make([]byte, 4<<10), MaxLine)
	l.scanner.Split(l.split)
	return l
}

// Unfinished reports whether the last line had no end, so that the stream stopped inside or right
// after it.
func (l *Lines) Unfinished() bool { return l.unfinished }

// Next returns the next line without its end, valid until the following call. An unfinished last
// line is returned at io.EOF, but not after another error.
func (l *Lines) Next() ([]byte, error) {
	if l.scanner.Scan() {
		line := l.scanner.Bytes()
		if !l.begun {
			line, l.begun = bytes.TrimPrefix(line, []byte(mark)), true
		}
		return line, nil
	}
	err := l.scanner.Err()
	switch {
	case err == nil:
		err = io.EOF
	case errors.Is(err, bufio.ErrTooLong):
		err = ErrLong
	}
	return nil, err
}

func (l *Lines) split(data []byte, atEOF bool) (advance int, line []byte, err error) {
	begin := 0
	if l.afterCR && len(data) > 0 && data[0] == '\n' {
		begin = 1
	}
	from := max(l.searched, begin)
	fresh := data[from:]
	i := bytes.IndexByte(fresh, '\n')
	if i >= 0 {
		fresh = fresh[:i]
	}
	cr := bytes.IndexByte(fresh, '\r')
	if cr >= 0 {
		i = cr
	}
	switch {
	case i >= 0:
		l.searched, l.afterCR = 0, cr >= 0
		return from + i + 1, data[begin : from+i : from+i], nil
	case atEOF && len(data) > begin && l.scanner.Err() == nil:
		l.searched, l.unfinished = 0, true
		return len(data), data[begin:], nil
	}
	l.searched = len(data)
	return 0, nil, nil
}
