// Package lineread reads lines with a maximum length: JSON lines from an editor, server, client,
// child process or task file. The one rule: it holds at most one line within the bound, and reading
// continues normally after a longer one. Start reading at Next. Known limits: only a line feed ends
// a line, and only closing the input ends a blocked read.
package lineread

import (
	"bufio"
	"errors"
	"io"
)

// ErrLong means that a line exceeds the reader's bound.
var ErrLong = errors.New("the line is too long")

// buffer is the read size in bytes.
const buffer = 64 << 10

// Reader reads lines.
type Reader struct {
	// Wanted, if not nil, decides by a line's first bytes, up to 64 KiB, whether to return the
	// line. Others are skipped whatever their length.
	Wanted func(start []byte) bool

	in   *bufio.Reader
	most int
	skip bool   // skipping the rest of a line
	rest []byte // part of the skipped line not yet passed to the caller
}

// New returns a Reader for lines of at most most bytes without the line feed.
func New(in io.Reader, most int) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, buffer), most: most}
}

// Next returns the next line without its line feed, in new memory; the last line may lack one. A
// longer line returns ErrLong once, together with its start up to the bound; the next call
// continues after it. An input error discards the incomplete line. After the last line it returns
// io.EOF.
func (r *Reader) Next() ([]byte, error) {
	for {
		start, ended, err := r.piece()
		r.rest = nil
		if err != nil {
			return nil, err
		}
		if r.skip || r.Wanted != nil && !r.Wanted(start) {
			r.skip = !ended
			continue
		}
		return r.line(start, ended)
	}
}

// Remainder passes the remainder of a long line in pieces, until it ends or to fails. Call it right
// after [ErrLong]; otherwise Next skips the remainder.
func (r *Reader) Remainder(to func(piece []byte) error) error {
	if len(r.rest) > 0 {
		if err := to(r.rest); err != nil {
			return err
		}
		r.rest = nil
	}
	for r.skip {
		piece, ended, err := r.piece()
		if err == io.EOF {
			r.skip = false
			return nil
		}
		if err != nil {
			return err
		}
		r.skip = !ended
		if err := to(piece); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) line(piece []byte, ended bool) ([]byte, error) {
	var line []byte
	for {
		if room := r.most - len(line); len(piece) > room {
			r.skip, r.rest = !ended, piece[room:]
			return append(line, piece[:room]...), ErrLong
		}
		if line = append(line, piece...); ended {
			return line, nil
		}
		var err error
		piece, ended, err = r.piece()
		if err == io.EOF {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// piece returns all or part of a line without the line feed, valid until the next read; ended means
// that the line is complete.
func (r *Reader) piece() (piece []byte, ended bool, err error) {
	piece, err = r.in.ReadSlice('\n')
	switch {
	case err == nil:
		return piece[:len(piece)-1], true, nil
	case errors.Is(err, bufio.ErrBufferFull):
		return piece, false, nil
	case err == io.EOF && len(piece) > 0:
		return piece, true, nil
	}
	return nil, false, err
}
