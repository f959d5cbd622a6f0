package remote

import (
	"sync"
	"time"
)

// A server may send this much at once, and this much in the long run; a large result with its
// progress has a tenth of it.
const (
	burstBytes, bytesPerSecond   = 64 << 20, 4 << 20
	burstEvents, eventsPerSecond = 20_000, 1_000
	maxFloods                    = 3 // then nothing more is asked of it
)

// flood measures what all streams of one server send together, so that a new stream brings no new
// allowance.
type flood struct {
	now func() time.Time

	mu            sync.Mutex
	at            time.Time
	bytes, events float64 // what may still come
	floods        int
}

func newFlood(now func() time.Time) *flood {
	return &flood{now: now, at: now(), bytes: burstBytes, events: burstEvents}
}

// take counts what came; if false, too much.
func (f *flood) take(bytes, events int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	passed := max(now.Sub(f.at).Seconds(), 0)
	f.at = now
	f.bytes = min(f.bytes+passed*bytesPerSecond, burstBytes) - float64(bytes)
	f.events = min(f.events+passed*eventsPerSecond, burstEvents) - float64(events)
	if f.bytes >= 0 && f.events >= 0 {
		return true
	}
	f.floods++
	return false
}

// check refuses to ask a server that floods again and again.
func (f *flood) check(host string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.floods < maxFloods {
		return nil
	}
	return refuse("start the server again when it is mended", "%s floods with messages, and is asked nothing more", host)
}
