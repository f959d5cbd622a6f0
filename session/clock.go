package session

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// clock measures a turn and ends it after its limit. It stands still while a user is asked, so that
// thinking about a question costs the turn nothing. It is safe for concurrent use.
type clock struct {
	now   func() time.Time
	start time.Time
	limit time.Duration // 0 means no limit
	spend func()        // ends the turn

	mu     sync.Mutex
	timer  *time.Timer // nil without a limit
	open   int         // open waits
	since  time.Time   // the first open wait's start
	waited time.Duration
}

// startClock returns a context that ends after most, its clock, and a function to stop the clock.
func startClock(ctx context.Context, now func() time.Time, most time.Duration) (context.Context, *clock, context.CancelFunc) {
	c := &clock{now: now, start: now(), limit: most}
	if c.limit <= 0 {
		return ctx, c, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c.spend = func() { cancel(fmt.Errorf("%w: the turn took longer than %s", ErrBudget, c.limit)) }
	c.timer = time.AfterFunc(c.limit, c.spend)
	return ctx, c, func() {
		c.stop()
		cancel(nil)
	}
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer.Stop()
	c.timer = nil
}

// wait stops the clock until over is called.
func (c *clock) wait() (over func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open++; c.open == 1 {
		c.since = c.now()
		if c.timer != nil {
			c.timer.Stop()
		}
	}
	return sync.OnceFunc(c.resume)
}

func (c *clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open--; c.open > 0 {
		return
	}
	c.waited += c.now().Sub(c.since)
	if c.timer != nil {
		c.timer.Reset(max(c.limit-c.took(), 0))
	}
}

// elapsed returns the turn's duration without the waits.
func (c *clock) elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.took()
}

func (c *clock) took() time.Duration {
	waited := c.waited
	if c.open > 0 {
		waited += c.now().Sub(c.since)
	}
	return c.now().Sub(c.start) - waited
}
