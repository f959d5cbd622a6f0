package remote

import (
	"sync"
	"time"
)

// A server may send this much at once, and this much in the long run; a large result with its
// progress has a tenth of it. An event costs something by itself.
const (
	burst, perSecond = 64 << 20, 4 << 20 // bytes
	eventCost        = 4 << 10
	maxFloods        = 3 // then nothing more is asked of it
)

// flood measures what all streams of one server send together, so that a new stream brings no new
// allowance.
type flood struct {
	now func() time.Time

	mu     sync.Mutex
	at     time.Time
	left   float64 // bytes that may still come
	floods int
}

func newFlood(now func() time.Time) *flood {
	return &flood{now: now, at: now(), left: burst}
}

// take counts what came; if false, too much.
func (f *flood) take(bytes int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	passed := max(now.Sub(f.at).Seconds(), 0)
	f.at = now
	f.left = min(f.left+passed*perSecond, burst) - float64(bytes)
	if f.left < 0 {
		f.floods++
	}
	return f.left >= 0
}

// check refuses to ask a server that floods again and again.
func (f *flood) check(host string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.floods < maxFloods {
		return nil
	}
	return Refuse("start the server again when it is mended", "%s floods with messages, and is asked nothing more", host)
}
