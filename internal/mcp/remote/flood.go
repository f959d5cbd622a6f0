package remote

import (
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// A server may send burst bytes at once and perSecond in the long run; a large result with its
// progress has a tenth of it. Each event costs extra.
const (
	burst, perSecond = 64 << 20, 4 << 20 // bytes
	eventCost        = 4 << 10
	maxFloods        = 3 // then it gets no more requests
)

// flood measures all streams of a server together, so that a new stream brings no new allowance.
type flood struct {
	now    func() time.Time
	limit  *rate.Limiter
	floods atomic.Int32
}

func newFlood(now func() time.Time) *flood {
	return &flood{now: now, limit: rate.NewLimiter(perSecond, burst)}
}

// take counts received bytes and returns false if there are too many.
func (f *flood) take(bytes int) bool {
	if f.limit.AllowN(f.now(), bytes) {
		return true
	}
	f.floods.Add(1)
	return false
}

// check returns an error for a server that floods repeatedly.
func (f *flood) check(host string) error {
	if f.floods.Load() < maxFloods {
		return nil
	}
	return Refuse("start the server again when it is mended", "%s floods with messages, and is asked nothing more", host)
}
