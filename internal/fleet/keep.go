package fleet

import (
	"context"
	"errors"
	"time"
)

// Times at which workers let go what is over: a worker looks when it starts and then each hour, and
// one of all of them does it once a day.
const (
	keepLook  = time.Hour
	keepEvery = 24 * time.Hour
	keepKey   = "retention" // of the lease, and of the time in the book of pauses
)

// Keep lets go what is over for long, by expire, for as long as ctx. Of all workers of a server one
// does it at a time. Trouble is told to tell; it is tried again with the next look.
func (c Cluster) Keep(ctx context.Context, expire func(context.Context) error, tell func(error)) {
	for {
		if err := c.keepOnce(ctx, time.Now(), expire); err != nil && ctx.Err() == nil {
			tell(err)
		}
		again := time.NewTimer(keepLook)
		select {
		case <-ctx.Done():
			again.Stop()
			return
		case <-again.C:
		}
	}
}

func (c Cluster) keepOnce(ctx context.Context, now time.Time, expire func(context.Context) error) error {
	next, _, err := read[pause](ctx, c.Pauses, keepKey)
	if err != nil && !errors.Is(err, ErrNone) {
		return err
	}
	if left := next.Until.Sub(now); left > 0 && left <= keepEvery { // a clock that is wrong holds it up for a day
		return nil
	}
	lease, err := c.Leases.Hold(ctx, keepKey)
	if errors.Is(err, ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = lease.Release(context.WithoutCancel(ctx)) }() // it ends by itself
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-lease.Lost():
			stop()
		case <-ctx.Done():
		}
	}()
	if err := expire(ctx); err != nil {
		return err
	}
	return change(ctx, c.Pauses, keepKey, func(p *pause) error {
		p.Until, p.Why = now.Add(keepEvery), "what is over for long was let go"
		return nil
	})
}
