package tool

import (
	"encoding/json"
	"sync"
	"time"
)

// liveInterval is the time between updates for one call: at most 19 in a second, and 20 with the
// last one from stop.
const liveInterval = 55 * time.Millisecond

// live sends a call's newest metadata: at once if the last update is old enough, else when the
// interval or the call ends, so that the last one always arrives. It sends nothing after stop.
type live struct {
	emit func(title string, metadata json.RawMessage)

	mu      sync.Mutex
	title   string
	encode  func() (json.RawMessage, error) // nil if nothing is new
	newest  json.RawMessage
	shown   string // the title for newest
	timer   *time.Timer
	stopped bool
}

func (l *live) update(title string, encode func() (json.RawMessage, error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return
	}
	l.title, l.encode = title, encode
	if l.timer == nil {
		l.flush()
		l.timer = time.AfterFunc(liveInterval, l.tick)
	}
}

// tick ends an interval. If there is an update it sends it and starts the next interval.
func (l *live) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return
	}
	if l.encode == nil {
		l.timer = nil
		return
	}
	l.flush()
	l.timer = time.AfterFunc(liveInterval, l.tick)
}

// flush sends the newest metadata. The author's MarshalJSON or an observer may panic on the timer's
// goroutine, which would end the process; such metadata is dropped.
func (l *live) flush() {
	encode := l.encode
	l.encode = nil
	_, _ = sound(func() (json.RawMessage, error) {
		raw, err := encode()
		if err == nil {
			l.newest, l.shown = raw, l.title
			l.emit(l.title, raw)
		}
		return raw, err
	})
}

func (l *live) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return
	}
	if l.encode != nil {
		l.flush()
	}
	l.stopped = true
	if l.timer != nil {
		l.timer.Stop()
	}
}

// last returns the last update, for a call that ends without its own result.
func (l *live) last() (title string, metadata json.RawMessage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shown, l.newest
}
