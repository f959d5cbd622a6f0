//go:build !(linux && (amd64 || arm64))

package seccomptrace

import "time"

// Witness is none.
type Witness struct{}

// New has nothing to listen to.
func New(int, Settings) *Witness { return nil }

// Await has nothing to answer.
func (*Witness) Await(int) {}

// Begin has nothing to answer.
func (*Witness) Begin() {}

// Tell tells nothing.
func (*Witness) Tell(string, func(string, bool)) {}

// Over is at once.
func (*Witness) Over(time.Duration) bool { return true }

// Performed are none.
func Performed() []Test { return nil }

// Changing are none.
func Changing() []Test { return nil }

// Facts are none.
func (*Witness) Facts() (counting, passed []Fact) { return nil, nil }

// Tests are none.
func Tests() []Test { return nil }

// Names are none.
func Names() map[uint32]string { return nil }

// Supervised are none.
func Supervised() []Test { return nil }
