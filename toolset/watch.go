package toolset

import (
	"context"
	"sync/atomic"
	"time"
)

// watchEvery is how often somebody who watches hears of a long search or fetch; a short one is over
// before.
const watchEvery = 250 * time.Millisecond

// watch tells show how far a count has come until stop is called, which waits for a call of show
// that is under way.
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

// watched is the place with its count shown as a search goes on.
func (p place) watched(show func(n int64)) (place, func()) {
	p.Visited = &atomic.Int64{}
	return p, watch(p.Visited, show)
}

// heavySize is from which size on work with a file is worth a goroutine of its own.
const heavySize = 1 << 20

// heavy does work that knows no abort beside the call: an aborted call returns at once, and the
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
			panic(a.panic) // in the call, where the pipeline answers for it
		}
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
