//go:build !(linux && (amd64 || arm64))

package seccomptrace

// Witness is unused on this system.
type Witness struct{}

// New returns nil.
func New(int, Settings) *Witness { return nil }

// Await does nothing.
func (*Witness) Await(int) {}

// Begin does nothing.
func (*Witness) Begin() {}

// Tells returns nil.
func Tells(bool) []uint32 { return nil }
