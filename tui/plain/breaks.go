package plain

import "sync"

// Breaks is what interrupts from outside do to an interface of lines: the first of a turn stops the
// agent, as ctrl+c does on a screen.
type Breaks struct {
	mu    sync.Mutex
	armed bool // a turn runs that none has stopped yet
	asked chan struct{}
}

// NewBreaks is before the first turn.
func NewBreaks() *Breaks { return &Breaks{asked: make(chan struct{}, 1)} }

// Turn says that a turn begins or has ended; a new one can be stopped anew.
func (b *Breaks) Turn(begins bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.armed = begins
	select {
	case <-b.asked: // it came as the turn before ended
	default:
	}
}

// Interrupt stops the agent and reports whether it did: once in each turn. It may be called from
// any goroutine.
func (b *Breaks) Interrupt() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.armed {
		return false
	}
	b.armed = false
	b.asked <- struct{}{} // there is room: Turn made it
	return true
}
