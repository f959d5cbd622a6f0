package wire

import (
	"io"
	"net"
	"slices"
)

// Body is a request body in pieces that are kept elsewhere and must not change.
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

// Elements appends the pieces that are not empty, with commas between; first says that nothing
// comes before them in their list.
func (b *Body) Elements(pieces [][]byte, first bool) {
	comma := []byte(",")
	for _, piece := range pieces {
		if len(piece) > 0 && !first {
			b.Add(comma)
		}
		b.Add(piece)
		first = first && len(piece) == 0
	}
}

// Len is the number of bytes.
func (b *Body) Len() int64 { return b.size }

// Reader reads the body from its start.
func (b *Body) Reader() io.ReadCloser {
	pieces := slices.Clone(b.pieces) // reading takes pieces off
	return io.NopCloser(&pieces)
}
