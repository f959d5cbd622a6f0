package conversation

import (
	"sync/atomic"

	"adze/tool"
)

// liveSet are the tools of a run, of which others may join while panes look.
type liveSet struct{ atomic.Pointer[tool.Set] }

// Get finds a definition.
func (l *liveSet) Get(name string) (tool.Definition, bool) { return l.Load().Get(name) }

// Names lists them in order.
func (l *liveSet) Names() []string { return l.Load().Names() }

// Blocks draws what a call shows.
func (l *liveSet) Blocks(name string, metadata []byte) []tool.Block {
	return l.Load().Blocks(name, metadata)
}
