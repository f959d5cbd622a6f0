package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine bounds one line or event: a whole call with a large file as argument fits.
const MaxLine = 16 << 20

// ErrLong says that a line or event is longer than MaxLine.
var ErrLong = errors.New("a line without end")

// mark is the byte order mark, which some servers begin with.
const mark = "\xEF\xBB\xBF"

// Lines cuts a stream into lines that end with LF, CR LF or CR, as the WHATWG's event streams do,
// wherever reads split it.
type Lines struct {
	scanner    *bufio.Scanner
	searched   int  // bytes of the next line that hold no line end
	afterCR    bool // a LF that follows belongs to the line before
	begun      bool
	unfinished bool
}

// NewLines reads lines from r.
func NewLines(r io.Reader) *Lines {
	l := &Lines{scanner: bufio.NewScanner(r)}
	l.scanner.Buffer(make([]byte, 4<<10), MaxLine)
	l.scanner.Split(l.split)
	return l
}

// Unfinished reports whether the last line had no end: the stream stopped inside it, or right after
// it.
func (l *Lines) Unfinished() bool { return l.unfinished }

// Next returns the next line without its end; it is valid until the following Next. An unfinished
// last line is returned at io.EOF, but not when the stream broke.
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
