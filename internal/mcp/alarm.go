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
	held  int // how many hold it now
}

func newAlarm(limit time.Duration, ring func()) *alarm {
	return &alarm{limit: limit, timer: time.AfterFunc(limit, ring)}
}

// again sets it to the whole time, unless somebody holds it.
func (a *alarm) again() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.held == 0 {
		a.timer.Reset(a.limit)
	}
}

// hold keeps it from going off until release is called; several may hold it.
func (a *alarm) hold() (release func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held++
	a.timer.Stop()
	return sync.OnceFunc(func() {
		a.mu.Lock()
		a.held--
		a.mu.Unlock()
		a.again()
	})
}
