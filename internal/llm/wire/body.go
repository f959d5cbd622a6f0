package wire

import (
	"io"
	"net"
	"slices"
)

// A Body is a request body in shared pieces, which must not change.
type Body struct {
	pieces net.Buffers
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

// Elements appends elements after a first one, which may be empty, as may they.
func (b *Body) Elements(first, others []byte) {
	b.Add(first)
	if len(first) > 0 && len(others) > 0 {
		b.Text(",")
	}
	b.Add(others)
}

// Len returns the number of bytes.
func (b *Body) Len() int64 { return b.size }

// Reader returns a reader from the start.
func (b *Body) Reader() io.ReadCloser {
	pieces := slices.Clone(b.pieces) // reading consumes pieces
	return io.NopCloser(&pieces)
}
