package live

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"adze/internal/stream"
	"adze/session"
)

// The bounds of what waits for one watcher.
const (
	mostLines = 8192
	mostBytes = 4 << 20
	atOnce    = 256 << 10 // bytes of one write, and of the log that is read at once
	mostOwn   = 1024      // answers to its own lines
	memory    = 1024      // things of the log, at least, that are known to have been told
	overlap   = 64        // entries of the log before the newest position that may not have been told
)

// watcher is what one client is sent.
type watcher struct {
	conn  connection
	owner *Owner
	all   bool // else the state alone
	after int64
	told  [2]map[string]struct{} // identities, the newest and those before
	done  chan struct{}          // closed when nothing is sent any more

	mu     sync.Mutex
	wake   chan struct{} // there is something
	queue  []item
	size   int    // of the events in it
	own    int    // answers in it
	missed int    // events that were dropped; the queue takes no more until the log was read
	last   []byte // of all; nothing comes behind it
	gone   bool
}

func newWatcher(c connection, o *Owner, first watch) *watcher {
	return &watcher{conn: c, owner: o, all: first.Only == "", after: first.After, done: make(chan struct{}), wake: make(chan struct{}, 1)}
}

func (w *watcher) set(change func()) {
	w.mu.Lock()
	change()
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default: // it is awake already
	}
}

// add queues a line, or drops it with all that waits where there is no room.
func (w *watcher) add(i item) {
	w.set(func() {
		switch {
		case i.kind == stateItem:
			w.queue = append(slices.DeleteFunc(w.queue, func(q item) bool { return q.kind == stateItem }), i)
		case w.missed > 0:
			w.missed++
		default:
			w.queue, w.size = append(w.queue, i), w.size+len(i.line)
			if w.size > mostBytes || len(w.queue) > mostLines {
				all := len(w.queue)
				w.queue, w.size = slices.DeleteFunc(w.queue, func(q item) bool { return q.kind == eventItem }), 0
				w.missed = all - len(w.queue)
			}
		}
	})
}

// say answers a line of the client. One that asks and never reads is not talked with any longer.
func (w *watcher) say(line []byte) {
	w.set(func() {
		w.queue = append(w.queue, item{kind: replyItem, line: line})
		if w.own++; w.own > mostOwn {
			w.gone = true
			_ = w.conn.Close() // it does not read
		}
	})
}

// close has the watcher end after one more line.
func (w *watcher) close(line []byte) {
	_ = w.conn.SetWriteDeadline(time.Now().Add(time.Second)) // a client that does not read is not waited for
	w.set(func() { w.last = line })
}

// end has the watcher end now.
func (w *watcher) end() { w.set(func() { w.gone = true }) }

// run sends what there is until the client leaves or the owner closes.
func (w *watcher) run() {
	defer close(w.done)
	defer w.conn.Close()
	if w.all && w.history() != nil {
		return
	}
	for done := false; !done; {
		<-w.wake
		var err error
		if done, err = w.send(); err != nil {
			return
		}
	}
}

// send sends what waits.
func (w *watcher) send() (done bool, err error) {
	w.mu.Lock()
	queue, missed, last, gone := w.queue, w.missed, w.last, w.gone
	w.queue, w.size, w.own = nil, 0, 0
	w.mu.Unlock()
	if gone && last == nil {
		return true, nil
	}
	if err := w.write(queue); err != nil {
		return false, err
	}
	switch {
	case last != nil:
		_, err = w.conn.Write(last)
		return true, err
	case missed > 0:
		return false, w.again(missed)
	}
	return false, nil
}

// write writes lines, many at once.
func (w *watcher) write(queue []item) (err error) {
	var buf []byte
	for n, i := range queue {
		if !w.has(i.identity) && !w.has(i.until) {
			w.learn(i.identity)
			w.after = max(w.after, i.position)
			buf = append(buf, i.line...)
		}
		if err == nil && (len(buf) > atOnce || n == len(queue)-1 && len(buf) > 0) {
			_, err = w.conn.Write(buf)
			buf = buf[:0]
		}
	}
	return err
}

func (w *watcher) has(identity string) bool {
	_, new := w.told[0][identity]
	_, old := w.told[1][identity]
	return identity != "" && (new || old)
}

func (w *watcher) learn(identity string) {
	if identity == "" {
		return
	}
	if len(w.told[0]) >= memory || w.told[0] == nil {
		w.told[0], w.told[1] = map[string]struct{}{}, w.told[0]
	}
	w.told[0][identity] = struct{}{}
}

// again says that events were missed, and reads on in the log.
func (w *watcher) again(events int) error {
	if _, err := w.conn.Write(encode(ownerLine{Type: missedLine, Events: events, After: w.after})); err != nil {
		return err
	}
	w.owner.join(w)
	return w.history()
}

// errEnough ends a look at the log.
var errEnough = errors.New("enough")

// history sends what the log has behind w.after, and then says that what follows is live. It reads
// in pieces, so that the log is not held open for a client that does not read.
func (w *watcher) history() error {
	h := &history{w: w, newest: w.after, from: max(w.after-overlap, 0)}
	if len(w.told[0]) == 0 { // nothing was told yet
		h.from = w.after
	}
	h.printer = &stream.Printer{Out: &splitter{to: func(line []byte) { h.buf = append(h.buf, line...) }}, Format: stream.StreamJSON, Mask: w.owner.config.Mask, Prompts: true}
	for more := true; more; {
		err := w.owner.config.Log(w.owner.ctx, h.from, h.entry)
		if more = errors.Is(err, errEnough); err != nil && !more {
			if w.owner.ctx.Err() != nil {
				err = context.Cause(w.owner.ctx)
			}
			return err
		}
		if _, err := w.conn.Write(h.buf); err != nil {
			return err
		}
		h.buf = h.buf[:0]
	}
	w.after = max(w.after, h.from)
	_, err := w.conn.Write(encode(ownerLine{Type: liveLine, After: w.after}))
	return err
}

// history makes lines of the log.
type history struct {
	w       *watcher
	printer *stream.Printer
	buf     []byte
	from    int64
	newest  int64 // entries up to this one were told live, but for some that have an identity
}

func (h *history) entry(seq int64, e session.Entry) error {
	h.from = seq
	if e.Type == session.FragmentEntry {
		return nil // the queue has the message that arrives, from its beginning
	}
	for _, e := range Logged(e) {
		h.event(seq, e)
	}
	if len(h.buf) > atOnce {
		return errEnough
	}
	return nil
}

func (h *history) event(seq int64, e session.Event) {
	id := Identity(e)
	if id == "" && seq <= h.newest || h.w.has(id) {
		return
	}
	h.w.learn(id)
	if done, ok := e.(session.ToolEnd); ok {
		h.buf = append(h.buf, h.w.owner.view(done.Outcome.Call, done.Outcome.Tool, done.Outcome.Metadata)...)
	}
	h.printer.Observe(e)
}
