package hostio

import (
	"os"

	"adze/tui/input"
)

// handKeys does nothing. Windows passes no additional files to a process, so keys typed ahead wait
// for its end.
func handKeys(*input.Ahead) (files []*os.File, over func(), err error) { return nil, func() {}, nil }

// Hand is the unsupported connection to the process that called Beside.
type Hand struct{}

// Handed returns an empty connection.
func Handed(bool) Hand { return Hand{} }

// Read returns nil.
func (Hand) Read() []byte { return nil }

// Write does nothing.
func (Hand) Write([]byte) {}
