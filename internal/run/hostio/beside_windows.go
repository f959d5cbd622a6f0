package hostio

import (
	"os"

	"adze/tui/input"
)

// handKeys does nothing. Windows hands no other files to a process, so keys that were read
// ahead wait for its end.
func handKeys(*input.Ahead) (files []*os.File, over func(), err error) { return nil, func() {}, nil }

// Hand is the way to the process that called Beside. There is none.
type Hand struct{}

// Handed is the hand of this process.
func Handed(bool) Hand { return Hand{} }

// Read is what that process read ahead: nothing.
func (Hand) Read() []byte { return nil }

// Write does nothing.
func (Hand) Write([]byte) {}
