package acp

import (
	"sync"
	"time"

	sdk "github.com/coder/acp-go-sdk"
)

// Bounds of what is told. An editor that is built on the Go SDK is lost when 1,024 notifications
// wait in it, so that they come in measured portions: deltas are joined meanwhile, and of one call
// only the newest state is told.
const (
	pause      = 25 * time.Millisecond // between two portions
	maxWaiting = 256                   // notifications that wait here; who tells more waits, too
)

// note is an update that waits to be sent.
type note struct {
	session string
	update  sdk.SessionUpdate
	text    *string // of a chunk, to be joined with what follows of the same message
	key     string  // same key: the texts are joined, or the newer takes the place of the older; if empty, neither
}

// outbox tells the editor what happens, in order. Nothing is dropped but what something newer says
// as well.
type outbox struct {
	send func(sdk.SessionNotification)

	mu      sync.Mutex
	changed *sync.Cond
	waiting []note
	sending bool
	hurry   int // who waits until all is told
	closed  bool
}

func newOutbox(send func(sdk.SessionNotification)) *outbox {
	o := &outbox{send: send}
	o.changed = sync.NewCond(&o.mu)
	return o
}

// post hands in an update. It blocks while too many wait.
func (o *outbox) post(n note) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.waiting) >= maxWaiting && !o.closed {
		o.changed.Wait()
	}
	if o.closed || o.joined(n) {
		return
	}
	o.waiting = append(o.waiting, n)
	o.changed.Broadcast()
}

// joined lets an update be one with the last of its session, where that is of the same message or
// call.
func (o *outbox) joined(n note) bool {
	if n.key == "" {
		return false
	}
	for i := len(o.waiting) - 1; i >= 0; i-- {
		w := &o.waiting[i]
		if w.session != n.session {
			continue
		}
		if w.key != n.key {
			return false
		}
		if w.text != nil && n.text != nil {
			*w.text += *n.text
			return true
		}
		w.update = n.update
		return true
	}
	return false
}

// run sends until close.
func (o *outbox) run() {
	for {
		o.mu.Lock()
		for len(o.waiting) == 0 && !o.closed {
			o.changed.Wait()
		}
		if o.closed {
			o.mu.Unlock()
			return
		}
		portion := o.waiting
		o.waiting, o.sending = nil, true
		o.changed.Broadcast()
		o.mu.Unlock()
		for _, n := range portion {
			o.send(sdk.SessionNotification{SessionId: sdk.SessionId(n.session), Update: n.update})
		}
		o.mu.Lock()
		o.sending = false
		hurry := o.hurry > 0 && len(portion) < maxWaiting
		o.changed.Broadcast()
		o.mu.Unlock()
		if !hurry {
			time.Sleep(pause)
		}
	}
}

// flush waits until all that was handed in is sent.
func (o *outbox) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hurry++
	for (len(o.waiting) > 0 || o.sending) && !o.closed {
		o.changed.Wait()
	}
	o.hurry--
}

// close drops what waits: nobody reads it any more.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.changed.Broadcast()
}
