package mcp

import (
	"sync"
	"time"
)

// alarm goes off when it was not set again for a while.
type alarm struct {
	mu    sync.Mutex
	limit time.Duration
	timer *time.Timer
	since time.Time     // when it was set or held on
	left  time.Duration // what was left then
	held  int           // how many hold it now
}

func newAlarm(limit time.Duration, ring func()) *alarm {
	return &alarm{limit: limit, left: limit, since: time.Now(), timer: time.AfterFunc(limit, ring)}
}

// again sets it to the whole time.
func (a *alarm) again() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.left = a.limit; a.held == 0 {
		a.since = time.Now()
		a.timer.Reset(a.left)
	}
}

// hold keeps it from going off until release is called; several may hold it. What was left then is
// left still: who asks again and again gets no more time by it.
func (a *alarm) hold() (release func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.held++; a.held == 1 {
		a.timer.Stop()
		a.left = max(a.left-time.Since(a.since), 0)
	}
	return sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.held--; a.held == 0 {
			a.since = time.Now()
			a.timer.Reset(a.left)
		}
	})
}
