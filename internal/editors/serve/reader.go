package serve

import (
	"context"
	"errors"
	"sync"

	"adze/internal/editors/uistream"
	"adze/internal/live"
	"adze/session"
)

// What waits for a reader is bounded: one that does not read is let go, and reads the rest from the
// store when it comes back.
const (
	maxWaiting      = 1024    // events, as they are joined
	maxWaitingBytes = 8 << 20 // of text in them
)

// item is an event, or a question, for a reader.
type item struct {
	event    session.Event
	question *uistream.Question
	answered string        // to the question; if empty, it is asked
	asked    *openQuestion // the question whole, for a page
	anew     bool          // the log is to be read once more
	prompts  bool          // a turn begins elsewhere: the log may say what was taken back
	joins    bool          // what follows is live: the log may say that the turn ended
}

// reader is what waits for one stream.
type reader struct {
	turn int // that it is told; everyTurn: all, and what happens between them

	mu    sync.Mutex
	items []item
	bytes int
	lost  bool          // too much waits
	woken chan struct{} // holds one
	stop  func()        // ends the connection that it reads from; optional
}

var errLost = errors.New("the reader does not keep up")

func newReader(turn int) *reader {
	return &reader{turn: turn, woken: make(chan struct{}, 1)}
}

// everyTurn is the turn of a reader that follows a session, and not one turn of it.
const everyTurn = -1

// took are the items that wait; lost: there were too many.
func (q *reader) took() (items []item, lost bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	items = q.items
	q.items, q.bytes = nil, 0
	return items, q.lost
}

// put adds an item. It never waits.
func (q *reader) put(it item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.lost || q.ignores(it.event) {
		return
	}
	switch e := it.event.(type) {
	case session.TextDelta:
		q.bytes += len(e.Delta)
	case session.ReasoningDelta:
		q.bytes += len(e.Delta)
	}
	q.items = joined(q.items, it)
	if len(q.items) > maxWaiting || q.bytes > maxWaitingBytes {
		q.lost, q.items = true, nil
	}
	nudge(q.woken)
}

// ignores reports an event that the reader is not told.
func (q *reader) ignores(e session.Event) bool {
	switch e.(type) {
	case session.Requested, session.TaskEnd, session.ToolAsk:
		return true
	case session.Counted, session.ToolQueued, session.Claimed:
		return q.turn != everyTurn // they are told to pages alone
	}
	return false
}

// joined adds an item, or joins it to the last one.
func joined(items []item, it item) []item {
	if last := len(items) - 1; last >= 0 {
		if e, is := live.Join(items[last].event, it.event); is {
			items[last].event = e
			return items
		}
	}
	return append(items, it)
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
		nudge(q.woken)
	}
}

// tell has an encoder tell an item.
func (it item) tell(e *uistream.Encoder) []uistream.Part {
	switch {
	case it.event != nil:
		return e.Take(it.event)
	case it.answered != "":
		return e.Settle(*it.question, it.answered)
	}
	return e.Ask(*it.question)
}
