package tool

import (
	"encoding/json"
	"sync"
	"time"
)

// liveInterval spaces updates of one call: 19 in any second and the one that stop passes on make
// 20, more than anybody reads.
const liveInterval = 55 * time.Millisecond

// live passes on the newest metadata of one call: at once when the last update is old enough, else
// when the interval ends or the call does, so the last one always arrives. After stop nothing is
// passed on.
type live struct {
	emit func(title string, metadata json.RawMessage)

	mu      sync.Mutex
	title   string
	encode  func() (json.RawMessage, error) // if nil, nothing new
	newest  json.RawMessage
	shown   string // the title that belongs to newest
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

// flush passes the newest metadata on. Encoding runs an author's MarshalJSON and emitting an
// observer, here on a timer's goroutine, where a panic would end the process; such metadata is not
// shown.
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

// stop passes on what still waits and ends the stream.
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

// last is what was passed on last, for a call that ends without a result of its own.
func (l *live) last() (title string, metadata json.RawMessage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shown, l.newest
}
