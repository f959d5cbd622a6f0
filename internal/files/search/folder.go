package search

import "time"

// kind is the type of a folder's entry.
type kind uint8

const (
	kindFile   kind = iota // regular
	kindFolder             //
	kindLink               // symbolic, wherever it leads
	kindOther              // FIFO, socket, device
)

// entry is one name in a folder.
type entry struct {
	name string
	kind kind
}

// stat is what is asked about an entry itself, never about what a link leads to.
type stat struct {
	kind     kind
	size     int64
	modified time.Time
}
