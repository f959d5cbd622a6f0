package toolset

import (
	"context"
	"sync/atomic"
	"time"
)

// watchEvery is the interval for progress of a long search or fetch; a short one ends before.
const watchEvery = 250 * time.Millisecond

// watch reports a count to show until stop is called, which waits for a running call of show.
func watch(count *atomic.Int64, show func(n int64)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	first := time.AfterFunc(watchEvery, func() {
		defer close(done)
		ticks := time.NewTicker(watchEvery)
		defer ticks.Stop()
		for {
			show(count.Load())
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
		}
	})
	return func() {
		cancel()
		if !first.Stop() {
			<-done
		}
	}
}

// watched returns the place with a counter, shown during a search.
func (p place) watched(show func(n int64)) (place, func()) {
	p.Visited = &atomic.Int64{}
	return p, watch(p.Visited, show)
}

// heavySize is the size from which work on a file gets its own goroutine.
const heavySize = 1 << 20

// heavy runs work that cannot be aborted beside the call: an aborted call returns at once, and the
// work, which may only compute, ends by itself.
func heavy[T any](ctx context.Context, size int, work func() (T, error)) (T, error) {
	if size < heavySize {
		return work()
	}
	type answer struct {
		value T
		err   error
		panic any
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			a.panic = recover()
			done <- a
		}()
		a.value, a.err = work()
	}()
	select {
	case a := <-done:
		if a.panic != nil {
			panic(a.panic) // in the call, where the pipeline handles it
		}
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
