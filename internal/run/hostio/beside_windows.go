package hostio

import (
	"os"

	"adze/tui/input"
)

// handKeys does nothing. Windows passes no additional files to a process, so keys typed ahead wait
// for its end.
func handKeys(*input.PendingKeys) (files []*os.File, over func(), err error) {
	return nil, func() {}, nil
}

// Hand is the unsupported connection to the process that called RunOnTerminal.
type Hand struct{}

// Inherited returns an empty connection.
func Inherited(bool) Hand { return Hand{} }

// Read returns nil.
func (Hand) Read() []byte { return nil }

// Write does nothing.
func (Hand) Write([]byte) {}
