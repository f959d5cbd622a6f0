package proc

import (
	"sync"
	"time"
)

// A command that is silent for silentTime is looked at: does a program of it wait for keys? A
// command that still does after sureTime is ended. Together they are below two seconds.
const (
	silentTime = time.Second
	sureTime   = 500 * time.Millisecond
)

// keyWatch ends a command that waits for keys of a terminal, because it has none. While a command
// goes on writing it looks at nothing, and at a silent one once.
type keyWatch struct {
	look func() (pid int, program string)
	end  func(program string)

	mu    sync.Mutex
	timer *time.Timer
	found int // by the last look
	over  bool
}

func watchKeys(look func() (int, string), end func(program string)) *keyWatch {
	w := &keyWatch{look: look, end: end}
	w.timer = time.AfterFunc(silentTime, w.check)
	return w
}

// wrote says that the command has written something. It may be called on a nil watch.
func (w *keyWatch) wrote() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.found = 0; !w.over {
		w.timer.Reset(silentTime)
	}
}

func (w *keyWatch) check() {
	pid, program := w.look()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.over || pid == 0:
	case pid == w.found:
		w.over = true
		w.end(program)
	default:
		w.found = pid
		w.timer.Reset(sureTime)
	}
}

// stop ends the watch. It may be called on a nil watch.
func (w *keyWatch) stop() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
}
