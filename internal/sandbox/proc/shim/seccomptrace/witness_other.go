//go:build !(linux && (amd64 || arm64))

package seccomptrace

// Listener is unused on this system.
type Listener struct{}

// New returns nil.
func New(int, Settings) *Listener { return nil }

// Await does nothing.
func (*Listener) Await(int) {}

// Begin does nothing.
func (*Listener) Begin() {}

// ReportedCalls returns nil.
func ReportedCalls(bool) []uint32 { return nil }
