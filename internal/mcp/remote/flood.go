package remote

import (
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
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
	now    func() time.Time
	limit  *rate.Limiter
	floods atomic.Int32
}

func newFlood(now func() time.Time) *flood {
	return &flood{now: now, limit: rate.NewLimiter(perSecond, burst)}
}

// take counts what came; if false, too much.
func (f *flood) take(bytes int) bool {
	if f.limit.AllowN(f.now(), bytes) {
		return true
	}
	f.floods.Add(1)
	return false
}

// check refuses to ask a server that floods again and again.
func (f *flood) check(host string) error {
	if f.floods.Load() < maxFloods {
		return nil
	}
	return Refuse("start the server again when it is mended", "%s floods with messages, and is asked nothing more", host)
}
