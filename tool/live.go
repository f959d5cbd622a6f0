package tool

import (
	"encoding/json"
	"sync"
	"time"
)

// liveInterval spaces updates of one call: 20 a second (tools.md, "Live metadata").
const liveInterval = 50 * time.Millisecond

// live passes on the newest metadata of one call: at once when the last update is old enough, else when
// the interval ends, so the last one always arrives. After stop nothing is passed on.
type live struct {
	emit func(title string, metadata json.RawMessage)

	mu      sync.Mutex
	title   string
	encode  func() (json.RawMessage, error)
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

// tick ends an interval: with news it passes them on and opens the next, without it closes.
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

func (l *live) flush() {
	raw, err := l.encode()
	l.encode = nil
	if err == nil {
		l.emit(l.title, raw)
	}
}

func (l *live) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	if l.timer != nil {
		l.timer.Stop()
	}
}
