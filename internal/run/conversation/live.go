package conversation

import (
	"sync/atomic"

	"adze/tool"
)

// liveSet holds a run's tools. Tools may join while panes read it.
type liveSet struct{ atomic.Pointer[tool.Set] }

// Get returns a definition.
func (l *liveSet) Get(name string) (tool.Definition, bool) { return l.Load().Get(name) }

// Names returns the names in order.
func (l *liveSet) Names() []string { return l.Load().Names() }

// Blocks returns the blocks for a call.
func (l *liveSet) Blocks(name string, metadata []byte) []tool.Block {
	return l.Load().Blocks(name, metadata)
}
