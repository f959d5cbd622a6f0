package wire

import "io"

// Body is a request body in pieces that are kept elsewhere and must not change.
type Body struct {
	pieces [][]byte
	size   int64
}

// Add appends a piece.
func (b *Body) Add(piece []byte) {
	if len(piece) > 0 {
		b.pieces = append(b.pieces, piece)
		b.size += int64(len(piece))
	}
}

// Text appends a literal piece.
func (b *Body) Text(s string) { b.Add([]byte(s)) }

// Next appends a comma and a piece. Where both lie behind the last piece in memory, as those of a
// Cache do, they become one with it: what is sent is then not gathered from hundreds.
func (b *Body) Next(piece []byte) {
	if n := len(b.pieces) - 1; n >= 0 && len(piece) > 0 {
		last := b.pieces[n]
		if end := len(last) + 1 + len(piece); end <= cap(last) {
			if whole := last[:end]; &whole[len(last)+1] == &piece[0] && whole[len(last)] == ',' {
				b.pieces[n] = whole
				b.size += int64(1 + len(piece))
				return
			}
		}
	}
	b.Text(",")
	b.Add(piece)
}

// Elements appends the pieces that are not empty, with commas between; first says that nothing
// comes before them in their list.
func (b *Body) Elements(pieces [][]byte, first bool) {
	for _, piece := range pieces {
		switch {
		case len(piece) == 0:
		case first:
			b.Add(piece)
			first = false
		default:
			b.Next(piece)
		}
	}
}

// Len is the number of bytes.
func (b *Body) Len() int64 { return b.size }

// Reader reads the body from its start.
func (b *Body) Reader() io.ReadCloser {
	return &bodyReader{pieces: b.pieces}
}

type bodyReader struct {
	pieces [][]byte
	at     int // in the first piece
}

func (r *bodyReader) Read(p []byte) (n int, err error) {
	for n < len(p) && len(r.pieces) > 0 {
		k := copy(p[n:], r.pieces[0][r.at:])
		n, r.at = n+k, r.at+k
		if r.at == len(r.pieces[0]) {
			r.pieces, r.at = r.pieces[1:], 0
		}
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (r *bodyReader) Close() error { return nil }

// Bounds of the memory that encoded messages lie in together.
const (
	leastRoom = 4 << 10
	mostRoom  = 64 << 10
)

// room keeps texts one behind the other with commas between, so that those which a request repeats
// are one piece of memory; see Next.
type room struct{ chunk []byte }

// keep copies a text. What it returns may not be appended to.
func (r *room) keep(text []byte) []byte {
	if len(text) == 0 {
		return nil
	}
	if len(text)+1 > cap(r.chunk)-len(r.chunk) {
		r.chunk = make([]byte, 0, max(min(max(leastRoom, 2*cap(r.chunk)), mostRoom), len(text)+1))
	}
	from := len(r.chunk)
	r.chunk = append(append(r.chunk, text...), ',')
	return r.chunk[from : len(r.chunk)-1]
}
