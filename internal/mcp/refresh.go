package mcp

import (
	"context"
	"sync"
	"time"
)

// Refresher asks a question anew whenever its answer became stale. One asks at a time, and what is
// told while one asks has it asked once more behind that. The zero value is ready; it is safe for
// concurrent use.
type Refresher struct {
	mu      sync.Mutex
	turn    chan struct{} // holds the one token of the goroutine that asks
	waiting bool          // a goroutine waits for its turn, for all that was told meanwhile
	since   time.Time     // when the calls of Stale began to be counted
	told    int           // how many there were
}

// A server may say that it changed so often in so long a time until it is asked more slowly.
const (
	atOnce     = 20
	atOnceTime = 10 * time.Second
)

// Ask calls ask when it is its turn. It waits for that as long as ctx lets it.
func (r *Refresher) Ask(ctx context.Context, ask func() error) error {
	turn := r.tokens()
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-turn }()
	return ask()
}

func (r *Refresher) tokens() chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.turn == nil {
		r.turn = make(chan struct{}, 1)
	}
	return r.turn
}

// Stale has ask called on a goroutine when it is its turn, unless one waits for that already. A
// server that says so too often is asked once in a while.
func (r *Refresher) Stale(ctx context.Context, ask func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting {
		return
	}
	r.waiting = true
	pause := r.pause(time.Now())
	go func() {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		_ = r.Ask(ctx, func() error {
			r.mu.Lock()
			r.waiting = false
			r.mu.Unlock()
			ask()
			return nil
		})
		if ctx.Err() != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.waiting = false
		}
	}()
}

// pause is how long to wait before the next asking; the lock is held.
func (r *Refresher) pause(now time.Time) time.Duration {
	if now.Sub(r.since) > atOnceTime {
		r.since, r.told = now, 0
	}
	if r.told++; r.told <= atOnce {
		return 0
	}
	return time.Second
}
