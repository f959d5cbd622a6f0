// Package lineread reads lines of bounded length: JSON lines of an editor, a server, a client, a
// child or a file of tasks. The one rule: whatever comes, no more than one line of at most the
// bound is held, and what follows a line that is too long is read as if that line had been a good
// one. Start reading at Next. Known limits: it knows no end of a line but the line feed, and a read
// that waits is ended only by who closes its input.
package lineread

import (
	"bufio"
	"errors"
	"io"
)

// ErrLong says that a line is longer than the reader's bound.
var ErrLong = errors.New("the line is too long")

// buffer is what is read at once, in bytes.
const buffer = 64 << 10

// Reader reads lines.
type Reader struct {
	// Wanted, when given, says by the beginning of a line, of up to 64 KiB, whether it is read. Of
	// others nothing is kept, and none of them is too long.
	Wanted func(start []byte) bool

	in   *bufio.Reader
	most int
	skip bool   // what comes is the rest of a line that is passed over
	rest []byte // what was read of the line that is passed over, behind what was handed out
}

// New reads lines of at most so many bytes; the line feed does not count.
func New(in io.Reader, most int) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, buffer), most: most}
}

// Next is the next line without its line feed, in memory of its own; the last one may lack the line
// feed. A line that is too long is told once, as soon as it is: ErrLong comes with as much of its
// beginning as the bound allows, and the next call reads behind its end. A failure of the input
// takes with it the line that it cuts. After the last line comes io.EOF.
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

// Rest hands over, in pieces, what follows the beginning of a line that was too long, until the
// line ends or to fails. It is for right after [ErrLong]; without it the next call of Next passes
// over the rest.
func (r *Reader) Rest(to func(piece []byte) error) error {
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

// line is the line that a piece begins.
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

// piece is a whole line or a part of one, without the line feed, until the next read; ended: it is
// the last of its line.
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
