package search

import "time"

type kind uint8

const (
	kindFile kind = iota // regular
	kindFolder
	kindLink  // symbolic link, whatever its target
	kindOther // FIFO, socket, device
)

type entry struct {
	name string
	kind kind
}

// stat is an entry's metadata; links are not followed.
type stat struct {
	kind     kind
	size     int64
	modified time.Time
}
