package plain

import "sync"

// Breaks handles interrupts for a line-based interface: the first in a turn stops the agent, like
// ctrl+c on a screen.
type Breaks struct {
	mu    sync.Mutex
	armed bool // a turn runs that was not stopped yet
	asked chan struct{}
}

// NewBreaks returns the state before the first turn.
func NewBreaks() *Breaks { return &Breaks{asked: make(chan struct{}, 1)} }

// Turn marks the begin or end of a turn; each turn can be stopped once.
func (b *Breaks) Turn(begins bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.armed = begins
	select {
	case <-b.asked: // sent as the previous turn ended
	default:
	}
}

// Interrupt stops the agent and reports whether it did: once per turn. It may be called from any
// goroutine.
func (b *Breaks) Interrupt() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.armed {
		return false
	}
	b.armed = false
	b.asked <- struct{}{} // never blocks: Turn emptied it
	return true
}
