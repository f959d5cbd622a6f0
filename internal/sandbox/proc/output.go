package proc

import (
	"bytes"
	"sync"
)

// Output keeps the start and the end of a stream and counts all of it. A write copies at most its
// own length. It is safe for concurrent use.
type Output struct {
	mu       sync.Mutex
	headSize int
	head     []byte
	tail     ring
	bytes    int64
	newlines int64
	open     bool // the last line has no newline yet
}

// NewOutput returns an Output for the first head bytes and the last tail bytes after them.
func NewOutput(head, tail int) *Output {
	return &Output{headSize: head, tail: ring{size: tail}}
}

// Write never fails.
func (o *Output) Write(p []byte) (int, error) {
	o.add(p)
	return len(p), nil
}

// add stores a chunk and returns the total bytes.
func (o *Output) add(p []byte) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(p) == 0 {
		return o.bytes
	}
	o.bytes += int64(len(p))
	o.newlines += int64(bytes.Count(p, []byte{'\n'}))
	o.open = p[len(p)-1] != '\n'
	if room := o.headSize - len(o.head); room > 0 {
		n := min(room, len(p))
		o.head = append(o.head, p[:n]...)
		p = p[n:]
	}
	o.tail.write(p)
	return o.bytes
}

// lines counts an unfinished last line too.
func (o *Output) lines() int64 {
	if o.open {
		return o.newlines + 1
	}
	return o.newlines
}

// Text returns the whole output if it fits, else its start and its end, cut at line ends.
func (o *Output) Text() Text {
	o.mu.Lock()
	defer o.mu.Unlock()
	return newText(o.head, o.tail.bytes(), o.bytes, o.newlines, o.open)
}

// Last returns at most n bytes from the end, starting at a line if possible.
func (o *Output) Last(n int) Progress {
	o.mu.Lock()
	defer o.mu.Unlock()
	end := o.tail.last(n)
	if missing := n - len(end); missing > 0 && o.bytes <= int64(len(o.head)+o.tail.used) {
		start := max(len(o.head)-missing, 0)
		end = append(bytes.Clone(o.head[start:]), end...)
	}
	if int64(len(end)) < o.bytes {
		end = fromLine(end)
	}
	return Progress{Tail: string(end), Bytes: o.bytes, Lines: o.lines()}
}

// Piece is a stream's part after an earlier one.
type Piece struct {
	Text                       string
	SkippedBytes, SkippedLines int64 // lost after the earlier piece
	Bytes, Newlines            int64 // total at the end of this piece, where the next Since starts
}

// Since returns the output after an earlier piece, as far as the tail holds it. It is for an Output
// without a head.
func (o *Output) Since(prev Piece) Piece {
	o.mu.Lock()
	defer o.mu.Unlock()
	fresh := o.bytes - prev.Bytes
	text := o.tail.last(int(min(fresh, int64(o.tail.used))))
	if int64(len(text)) < fresh {
		text = fromLine(text)
	}
	return Piece{
		Text:         string(text),
		SkippedBytes: fresh - int64(len(text)),
		SkippedLines: o.newlines - prev.Newlines - int64(bytes.Count(text, []byte{'\n'})),
		Bytes:        o.bytes,
		Newlines:     o.newlines,
	}
}

// handOver returns the output so far and its end for Since. From now on the head does not grow.
func (o *Output) handOver() (Text, Piece) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := newText(o.head, o.tail.bytes(), o.bytes, o.newlines, o.open)
	o.headSize = len(o.head)
	return text, Piece{Bytes: o.bytes, Newlines: o.newlines}
}

// ring holds the last size bytes. It grows on demand.
type ring struct {
	size  int
	buf   []byte
	start int // the oldest byte's index
	used  int
}

func (r *ring) write(p []byte) {
	if len(p) > r.size {
		p = p[len(p)-r.size:]
	}
	if len(p) == 0 {
		return
	}
	r.grow(r.used + len(p))
	if over := r.used + len(p) - len(r.buf); over > 0 {
		r.start = (r.start + over) % len(r.buf)
		r.used -= over
	}
	at := (r.start + r.used) % len(r.buf)
	n := copy(r.buf[at:], p)
	copy(r.buf, p[n:])
	r.used += len(p)
}

// grow makes room for n bytes up to size. Doubling bounds the total copying by the final size.
func (r *ring) grow(n int) {
	n = min(n, r.size)
	if n <= len(r.buf) {
		return
	}
	buf := make([]byte, min(max(n, 2*len(r.buf)), r.size))
	copy(buf, r.bytes())
	r.buf, r.start = buf, 0
}

func (r *ring) bytes() []byte { return r.last(r.used) }

func (r *ring) last(n int) []byte {
	n = min(n, r.used)
	out := make([]byte, n)
	if n == 0 {
		return out
	}
	from := (r.start + r.used - n) % len(r.buf)
	k := copy(out, r.buf[from:min(from+n, len(r.buf))])
	copy(out[k:], r.buf)
	return out
}
