package tui

import "sync"

// breaks is what interrupts from outside do to an interface of lines: the first of a turn stops the agent, as
// ctrl+c does on a screen.
type breaks struct {
	mu    sync.Mutex
	armed bool // a turn runs that none has stopped yet
	asked chan struct{}
}

// turn says that a turn begins or has ended; a new one can be stopped anew.
func (b *breaks) turn(begins bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.armed = begins
	select {
	case <-b.asked: // it came as the turn before ended
	default:
	}
}

// Interrupt stops the agent of an interface of lines and reports whether it did: once in each turn. What is not
// taken ends the program, as everywhere. It may be called from any goroutine.
func (u *UI) Interrupt() bool {
	b := &u.breaks
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.armed {
		return false
	}
	b.armed = false
	b.asked <- struct{}{} // there is room: turn made it
	return true
}

// stop ends the turn, keeping what was written so far.
func (p *plain) stop() {
	if p.m.turn.running {
		p.m.stop()
		p.say("Stopping the agent. Interrupt again to leave.")
	}
}
