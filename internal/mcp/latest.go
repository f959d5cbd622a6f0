package mcp

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Latest keeps answers in order to a question that others may make stale at any moment: one is
// asked at a time, and after a mark was made only an answer counts whose question was sent behind
// it. The zero value is ready; it is safe for concurrent use.
type Latest struct {
	mu      sync.Mutex
	made    int           // marks
	had     int           // marks that the last answer covers
	waiting int           // the mark with which somebody waits to ask for all who told so since; if 0, nobody does
	turn    chan struct{} // who holds its one token asks
	told    []time.Time   // the last askings that Stale began
}

// Mark says that answers to questions that were sent before are stale.
func (l *Latest) Mark() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made++
	return l.made
}

// Since asks, unless an answer covers the mark by now. It waits for its turn as long as ctx lets
// it.
func (l *Latest) Since(ctx context.Context, mark int, ask func() error) error {
	l.mu.Lock()
	if l.turn == nil {
		l.turn = make(chan struct{}, 1)
	}
	turn := l.turn
	l.mu.Unlock()
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-turn }()
	l.mu.Lock()
	if l.waiting != 0 {
		mark, l.waiting = l.made, 0 // the next who tells so may come too late for this asking
	}
	covers, known := l.made, l.had >= mark
	l.mu.Unlock()
	if known {
		return nil
	}
	err := ask()
	if err == nil {
		l.mu.Lock()
		l.had = covers
		l.mu.Unlock()
	}
	return err
}

// Stale makes a mark and has again called with it on a goroutine, unless one waits already to ask.
// Who is told so too often asks once in a while.
func (l *Latest) Stale(ctx context.Context, again func(mark int)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made++
	if l.waiting != 0 {
		return
	}
	l.waiting = l.made
	mark, pause := l.made, l.pause(time.Now())
	go func() {
		select {
		case <-time.After(pause):
			again(mark)
		case <-ctx.Done():
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.waiting == mark {
			l.waiting = 0 // it gave up before it asked
		}
	}()
}

// A server may say that it changed so often in so long a time until it is asked more slowly.
const (
	atOnce     = 20
	atOnceTime = 10 * time.Second
)

// pause is how long to wait before the next asking; the lock is held.
func (l *Latest) pause(now time.Time) time.Duration {
	l.told = append(slices.DeleteFunc(l.told, func(at time.Time) bool { return now.Sub(at) > atOnceTime }), now)
	if len(l.told) <= atOnce {
		return 0
	}
	return time.Second
}
