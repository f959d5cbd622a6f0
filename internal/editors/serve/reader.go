package serve

import (
	"context"
	"errors"
	"sync"

	"adze/internal/editors/uistream"
	"adze/session"
	"adze/tool"
)

// What waits for a reader is bounded: one that does not read is let go, and reads the rest from the
// store when it comes back.
const (
	maxWaiting      = 1024    // events, of which pieces of one text are one, and all progress of one call
	maxWaitingBytes = 8 << 20 // of text in them
)

// item is an event, or a question, for a reader.
type item struct {
	event    session.Event
	text     []byte // of a delta; its event has none
	question *uistream.Question
	answered string        // to the question; if empty, it is asked
	asked    *openQuestion // the question whole, for a page
	anew     bool          // the log is to be read once more
	prompts  bool          // a turn begins elsewhere: the log may say what was taken back
	joins    bool          // what follows is live: the log may say that the turn ended
	gone     bool          // the process that had the session has ended
}

// reader is what waits for one stream.
type reader struct {
	turn int // that it is told; everyTurn: all, and what happens between them

	mu    sync.Mutex
	items []item
	bytes int
	newer map[tool.CallID]int // where the newest progress of a call stands
	lost  bool                // too much waits
	woken chan struct{}       // holds one
	stop  func()              // ends the connection that it reads from; optional
}

var errLost = errors.New("the reader does not keep up")

func newReader(turn int) *reader {
	return &reader{turn: turn, newer: map[tool.CallID]int{}, woken: make(chan struct{}, 1)}
}

// everyTurn is the turn of a reader that follows a session, and not one turn of it.
const everyTurn = -1

// took are the items that wait; lost: there were too many.
func (q *reader) took() (items []item, lost bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	items = q.items
	q.items, q.bytes = nil, 0
	clear(q.newer)
	return items, q.lost
}

// put adds an item. It never waits.
func (q *reader) put(it item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.lost {
		return
	}
	if !q.merge(it) {
		q.items = append(q.items, whole(it))
	}
	if len(q.items) > maxWaiting || q.bytes > maxWaitingBytes {
		q.lost, q.items, q.newer = true, nil, nil
	}
	select {
	case q.woken <- struct{}{}:
	default:
	}
}

// whole takes the text out of a delta, so that more can be added to it.
func whole(it item) item {
	switch e := it.event.(type) {
	case session.TextDelta:
		it.event, it.text = session.TextDelta{Message: e.Message}, []byte(e.Delta)
	case session.ReasoningDelta:
		it.event, it.text = session.ReasoningDelta{Message: e.Message}, []byte(e.Delta)
	}
	return it
}

// merge has an item become part of one that waits, where nothing is lost by it.
func (q *reader) merge(it item) bool {
	var call tool.CallID
	switch e := it.event.(type) {
	case session.TextDelta:
		q.bytes += len(e.Delta)
		return q.grow(session.TextDelta{Message: e.Message}, e.Delta)
	case session.ReasoningDelta:
		q.bytes += len(e.Delta)
		return q.grow(session.ReasoningDelta{Message: e.Message}, e.Delta)
	case session.ToolUpdate:
		call = e.Call
	case session.CallForming:
		call = e.Call
	case session.Requested, session.TaskEnd, session.ToolAsk:
		return true // they are not told
	case session.Counted, session.ToolQueued, session.Claimed:
		return q.turn != everyTurn // they are told to pages alone
	default:
		return false
	}
	if at, there := q.newer[call]; there && sameKind(q.items[at].event, it.event) {
		q.items[at] = it
		return true
	}
	q.newer[call] = len(q.items)
	return false
}

func sameKind(a, b session.Event) bool {
	switch a.(type) {
	case session.ToolUpdate:
		_, same := b.(session.ToolUpdate)
		return same
	case session.CallForming:
		_, same := b.(session.CallForming)
		return same
	}
	return false
}

func (q *reader) grow(of session.Event, text string) bool {
	if n := len(q.items); n > 0 && q.items[n-1].event == of {
		q.items[n-1].text = append(q.items[n-1].text, text...)
		return true
	}
	return false
}

// take waits for items.
func (q *reader) take(ctx context.Context) ([]item, error) {
	for {
		items, lost := q.took()
		switch {
		case lost:
			return nil, errLost
		case len(items) > 0:
			return items, nil
		}
		select {
		case <-q.woken:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// giveBack puts items before those that wait.
func (q *reader) giveBack(items []item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(items) > 0 && !q.lost {
		q.items = append(items[:len(items):len(items)], q.items...)
		clear(q.newer)
		select {
		case q.woken <- struct{}{}:
		default:
		}
	}
}

// tell has an encoder tell an item.
func (it item) tell(e *uistream.Encoder) []uistream.Part {
	switch ev := it.event.(type) {
	case nil:
		if it.answered != "" {
			return e.Settle(*it.question, it.answered)
		}
		return e.Ask(*it.question)
	case session.TextDelta:
		ev.Delta += string(it.text)
		return e.Take(ev)
	case session.ReasoningDelta:
		ev.Delta += string(it.text)
		return e.Take(ev)
	}
	return e.Take(it.event)
}
