package text

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"sync"
	"unicode/utf8"
)

// block is the unit for counting lines in bytes. The index holds the line number of every block, so
// a second read counts at most one block.
const block = 256 << 10

// Want selects the lines to read.
type Want struct {
	Offset int // first line, from 1
	Limit  int // lines
	Bytes  int // limit for the text, but at least one line is returned
	Width  int // characters kept from a line
}

// Range holds consecutive lines from a file.
type Range struct {
	Lines     []Line
	Total     int // lines in the file; -1 if unknown, because the end was not reached
	Truncated bool
	Bytes     int64 // file bytes covered by the range
}

// Line is a line without its line end.
type Line struct {
	Text string
	Cut  int // bytes omitted at the end
}

// ErrPastEnd is returned, with Range.Total, if the file has fewer lines than Offset.
var ErrPastEnd = errors.New("past the end")

// Index caches the number of lines before each block of a file, so that the next read need not
// count again. The zero value is ready to use; it is safe for concurrent use.
type Index struct {
	mu     sync.Mutex
	before []int // before[i]: newlines before byte (i+1)*block
}

// start returns the last known block that begins inside a line before the wanted one.
func (x *Index) start(line int) (at, before int) {
	if x == nil {
		return 0, 0
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	at, _ = slices.BinarySearch(x.before, line-1)
	if at == 0 {
		return 0, 0
	}
	return at, x.before[at-1]
}

func (x *Index) add(at, before int) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if at == len(x.before)+1 {
		x.before = append(x.before, before)
	}
}

// Read reads a range of lines from a file of any size; it holds one block and the range in memory.
// Lines end in \n; a preceding \r is not part of the line. x may be nil.
func Read(ctx context.Context, r io.ReaderAt, want Want, x *Index) (Range, error) {
	at, before, err := seek(ctx, r, want.Offset, x)
	if errors.Is(err, io.EOF) {
		return Range{Total: before}, ErrPastEnd
	}
	if err != nil {
		return Range{}, err
	}
	section := stoppable{ctx, io.NewSectionReader(r, at, math.MaxInt64-at)}
	out, err := take(bufio.NewReaderSize(section, int(bufferFor(r, at))), want)
	if err == nil && len(out.Lines) == 0 {
		return Range{Total: want.Offset - 1}, ErrPastEnd
	}
	return out, err
}

// bufferFor returns a buffer size that reads the rest of a short file after at in one call.
func bufferFor(r io.ReaderAt, at int64) int64 {
	const most = 64 << 10
	if sized, ok := r.(interface{ Size() int64 }); ok {
		return min(most, max(0, sized.Size()-at)+1) // one more, to see the end
	}
	return most
}

// seek returns the offset at which a line begins, which may be the file's end. With io.EOF it
// returns the number of lines.
func seek(ctx context.Context, r io.ReaderAt, line int, x *Index) (off int64, lines int, err error) {
	if line <= 1 {
		return 0, 0, nil
	}
	at, before := x.start(line)
	buf := make([]byte, block)
	last := byte('\n')
	for ; ; at++ {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		off := int64(at) * block
		n, err := r.ReadAt(buf, off)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, 0, err
		}
		found := bytes.Count(buf[:n], []byte{'\n'})
		if before+found >= line-1 {
			return off + int64(behind(buf[:n], line-1-before)), 0, nil
		}
		if before += found; n > 0 {
			last = buf[n-1]
		}
		if n < block {
			if last != '\n' {
				before++
			}
			return 0, before, io.EOF
		}
		x.add(at+1, before)
	}
}

// behind returns the index after the n-th newline in b.
func behind(b []byte, n int) int {
	at := 0
	for range n {
		at += bytes.IndexByte(b[at:], '\n') + 1
	}
	return at
}

// stoppable fails reads after its context ends, even inside an endless line.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}

func take(r *bufio.Reader, want Want) (Range, error) {
	out := Range{Total: -1}
	size := 0
	var room []byte
	for len(out.Lines) < want.Limit {
		line, n, err := readLine(r, want.Width, &room)
		if errors.Is(err, io.EOF) {
			out.Total = want.Offset - 1 + len(out.Lines)
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if size += len(line.Text) + 1; size > want.Bytes && len(out.Lines) > 0 {
			out.Truncated = true
			return out, nil
		}
		out.Lines = append(out.Lines, line)
		out.Bytes += n
	}
	_, err := r.Peek(1)
	if out.Truncated = err == nil; !out.Truncated {
		out.Total = want.Offset - 1 + len(out.Lines)
	}
	return out, nil
}

// readLine reads a line and keeps width characters. It returns io.EOF if there is no line. The line
// is built in room, which the next call reuses.
func readLine(r *bufio.Reader, width int, room *[]byte) (line Line, n int64, err error) {
	kept := (*room)[:0]
	defer func() { *room = kept }()
	end := 0 // bytes in the line end
	for {
		part, err := r.ReadSlice('\n')
		n += int64(len(part))
		kept = append(kept, part[:min(len(part), max(0, width*utf8.UTFMax+2-len(kept)))]...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (!errors.Is(err, io.EOF) || n == 0) {
			return Line{}, 0, err
		}
		if bytes.HasSuffix(part, []byte("\r\n")) {
			end = 2
		} else if bytes.HasSuffix(part, []byte("\n")) {
			end = 1
		}
		break
	}
	whole := int(n) - end
	text := firstRunes(string(kept[:min(len(kept), whole)]), width)
	return Line{Text: text, Cut: whole - len(text)}, n, nil
}

func firstRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Part is a piece of a long line.
type Part struct {
	Text string
	From int64 // first byte's position in the line, from 1
	Line int64 // length of the whole line, without its end
}

// ReadPart reads at most size bytes from a line, starting at its byte column, from 1; it splits no
// character. ErrPastEnd comes with the line's length if the column is past its end, and with Line
// -1 if there is no such line.
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

func atEnd(r io.ReaderAt, at int64) bool {
	n, _ := r.ReadAt(make([]byte, 1), at)
	return n == 0
}
