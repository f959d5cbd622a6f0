package text

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"unicode/utf8"
)

// Part is a piece of one long line.
type Part struct {
	Text string
	From int64 // its first byte in the line, from 1
	Line int64 // bytes of the whole line, without its end
}

// ReadPart reads at most size bytes of a line from its byte column on, from 1; neither end cuts a
// character. ErrPastEnd comes with the line's length when the column lies behind it, and with a
// Line of -1 when there is no such line.
func ReadPart(ctx context.Context, r io.ReaderAt, line int, column int64, size int, x *Index) (Part, error) {
	at, _, err := seek(ctx, r, line, x)
	if errors.Is(err, io.EOF) {
		return Part{Line: -1}, ErrPastEnd
	}
	if err != nil {
		return Part{}, err
	}
	length, err := lineLength(ctx, r, at)
	if err != nil {
		return Part{}, err
	}
	p := Part{From: column, Line: length}
	if length == 0 && atEnd(r, at) {
		return Part{Line: -1}, ErrPastEnd
	}
	if column > length && length > 0 {
		return p, ErrPastEnd
	}
	raw := make([]byte, min(int64(size)+utf8.UTFMax, length-column+1))
	n, err := r.ReadAt(raw, at+column-1)
	if err != nil && !errors.Is(err, io.EOF) {
		return Part{}, err
	}
	raw = raw[:n]
	for skip := 0; skip < utf8.UTFMax && len(raw) > 0 && !utf8.RuneStart(raw[0]); skip++ {
		raw, p.From = raw[1:], p.From+1
	}
	if len(raw) > size {
		end := size
		for end > 0 && end > size-utf8.UTFMax && !utf8.RuneStart(raw[end]) {
			end--
		}
		raw = raw[:end]
	}
	p.Text = string(raw)
	return p, nil
}

// lineLength counts the bytes from the start of a line to its end, \r\n or \n left out.
func lineLength(ctx context.Context, r io.ReaderAt, start int64) (int64, error) {
	section := stoppable{ctx, io.NewSectionReader(r, start, math.MaxInt64-start)}
	buf := make([]byte, block)
	var length int64
	last := byte(0)
	for {
		n, err := section.Read(buf)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			if i > 0 {
				last = buf[i-1]
			}
			if length += int64(i); last == '\r' {
				length--
			}
			return length, nil
		}
		if n > 0 {
			last = buf[n-1]
		}
		length += int64(n)
		if errors.Is(err, io.EOF) {
			return length, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// atEnd reports that a file has nothing from a place on.
func atEnd(r io.ReaderAt, at int64) bool {
	n, _ := r.ReadAt(make([]byte, 1), at)
	return n == 0
}
