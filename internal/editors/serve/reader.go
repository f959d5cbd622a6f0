package serve

import (
	"context"
	"errors"
	"sync"

	"adze/internal/editors/uistream"
	"adze/internal/live"
	"adze/session"
)

// Limits of a reader's queue. A reader that exceeds them is disconnected and reads the rest from
// the store when it returns.
const (
	maxWaiting      = 1024    // events after joining
	maxWaitingBytes = 8 << 20 // of text in them
)

// item is an event or question for a reader.
type item struct {
	event    session.Event
	question *openQuestion
	answered string // the answer; empty while the question waits
	anew     bool   // reread the log
	prompts  bool   // a turn starts elsewhere: the log may have reverted messages
	joins    bool   // live events follow: the log may have the turn's end
}

// reader is one stream's queue.
type reader struct {
	turn int // the followed turn, or everyTurn

	mu    sync.Mutex
	items []item
	bytes int
	lost  bool          // the queue overflowed
	wake  chan struct{} // buffer of one
	stop  func()        // closes its source connection; optional
}

var errLost = errors.New("the reader does not keep up")

func newReader(turn int) *reader {
	return &reader{turn: turn, wake: make(chan struct{}, 1)}
}

// everyTurn is the turn of a reader that follows the whole session.
const everyTurn = -1

// took empties the queue. lost reports an overflow.
func (q *reader) took() (items []item, lost bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	items = q.items
	q.items, q.bytes = nil, 0
	return items, q.lost
}

// add adds an item without blocking.
func (q *reader) add(it item) {
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
	nudge(q.wake)
}

// ignores reports whether the reader does not get an event.
func (q *reader) ignores(e session.Event) bool {
	switch e.(type) {
	case session.Requested, session.TaskEnd, session.ToolAsk:
		return true
	case session.Counted, session.ToolQueued, session.Claimed:
		return q.turn != everyTurn // for pages only
	}
	return false
}

// joined appends an item or joins it to the last one.
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
		case <-q.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// giveBack puts items at the front of the queue.
func (q *reader) giveBack(items []item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(items) > 0 && !q.lost {
		q.items = append(items[:len(items):len(items)], q.items...)
		nudge(q.wake)
	}
}

// tell encodes an item.
func (it item) tell(e *uistream.Encoder) []uistream.Part {
	switch {
	case it.event != nil:
		return e.Take(it.event)
	case it.answered != "":
		return e.AnswerQuestion(it.question.Question, it.answered)
	}
	return e.Ask(it.question.Question)
}
