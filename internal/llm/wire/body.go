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

// Elements appends the non-empty pieces with commas between; first means that no element of the
// list precedes them.
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

// Len returns the number of bytes.
func (b *Body) Len() int64 { return b.size }

// Reader returns a reader from the start.
func (b *Body) Reader() io.ReadCloser {
	pieces := slices.Clone(b.pieces) // reading consumes pieces
	return io.NopCloser(&pieces)
}
