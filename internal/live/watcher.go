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

// Limits of one watcher's queue.
const (
	mostLines = 8192
	mostBytes = 4 << 20
	atOnce    = 256 << 10 // bytes per write, and of the log read at once
	mostOwn   = 1024      // replies to its own lines
	memory    = 1024      // minimum number of remembered log identities
	overlap   = 64        // entries before the newest log position that may not have been sent
)

type watcher struct {
	conn    connection
	owner   *Owner
	all     bool // else only the state
	after   int64
	sentIDs [2]map[string]struct{} // sent identities: the newest, and those before
	done    chan struct{}          // closed after the last write

	mu            sync.Mutex
	wake          chan struct{} // the queue is not empty
	queue         []item
	size          int    // of its events
	own           int    // number of replies in it
	droppedEvents int    // dropped events; the queue accepts none until the log was read
	last          []byte // last line; none follows
	gone          bool
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
	default: // already awake
	}
}

// add queues a line. If there is no room, it drops the line and all waiting ones.
func (w *watcher) add(i item) {
	w.set(func() {
		switch {
		case i.kind == stateItem:
			w.queue = append(slices.DeleteFunc(w.queue, func(q item) bool { return q.kind == stateItem }), i)
		case w.droppedEvents > 0:
			w.droppedEvents++
		default:
			w.queue, w.size = append(w.queue, i), w.size+len(i.line)
			if w.size > mostBytes || len(w.queue) > mostLines {
				all := len(w.queue)
				w.queue, w.size = slices.DeleteFunc(w.queue, func(q item) bool { return q.kind == eventItem }), 0
				w.droppedEvents = all - len(w.queue)
			}
		}
	})
}

// say replies to a line of the client. It disconnects one that sends without reading.
func (w *watcher) say(line []byte) {
	w.set(func() {
		w.queue = append(w.queue, item{kind: replyItem, line: line})
		if w.own++; w.own > mostOwn {
			w.gone = true
			_ = w.conn.Close() // it does not read
		}
	})
}

// close ends the watcher after one more line.
func (w *watcher) close(line []byte) {
	_ = w.conn.SetWriteDeadline(time.Now().Add(time.Second)) // do not wait for a client that does not read
	w.set(func() { w.last = line })
}

// end stops the watcher.
func (w *watcher) end() { w.set(func() { w.gone = true }) }

// run sends lines until the client disconnects or the owner closes.
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

func (w *watcher) send() (done bool, err error) {
	w.mu.Lock()
	queue, missed, last, gone := w.queue, w.droppedEvents, w.last, w.gone
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

// write writes lines in large blocks.
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
	_, new := w.sentIDs[0][identity]
	_, old := w.sentIDs[1][identity]
	return identity != "" && (new || old)
}

func (w *watcher) learn(identity string) {
	if identity == "" {
		return
	}
	if len(w.sentIDs[0]) >= memory || w.sentIDs[0] == nil {
		w.sentIDs[0], w.sentIDs[1] = map[string]struct{}{}, w.sentIDs[0]
	}
	w.sentIDs[0][identity] = struct{}{}
}

// again reports missed events and continues from the log.
func (w *watcher) again(events int) error {
	if _, err := w.conn.Write(encode(ownerLine{Type: missedLine, Events: events, After: w.after})); err != nil {
		return err
	}
	w.owner.join(w)
	return w.history()
}

// errEnough stops reading the log.
var errEnough = errors.New("enough")

// history sends the log after w.after, then the live line. It reads in pieces, so a client that
// does not read does not keep the log open.
func (w *watcher) history() error {
	h := &history{w: w, newest: w.after, offset: max(w.after-overlap, 0)}
	if len(w.sentIDs[0]) == 0 { // nothing was sent yet
		h.offset = w.after
	}
	h.printer = &stream.Printer{Out: &splitter{to: func(line []byte) { h.buf = append(h.buf, line...) }}, Format: stream.StreamJSON, Mask: w.owner.config.Mask, Prompts: true}
	for more := true; more; {
		err := w.owner.config.Log(w.owner.ctx, h.offset, h.entry)
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
	w.after = max(w.after, h.offset)
	_, err := w.conn.Write(encode(ownerLine{Type: liveLine, After: w.after}))
	return err
}

// history converts the log to lines.
type history struct {
	w       *watcher
	printer *stream.Printer
	buf     []byte
	offset  int64
	newest  int64 // entries up to this one were sent live, except some with an identity
}

func (h *history) entry(seq int64, e session.Entry) error {
	h.offset = seq
	if e.Type == session.FragmentEntry {
		return nil // the queue contains the incomplete message from its beginning
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
