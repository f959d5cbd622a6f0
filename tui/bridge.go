package tui

import (
	"context"
	"strings"
	"sync"
	"time"

	"adze/session"
	"adze/tool"
)

// batchTime is the interval between batches: one per frame at 60 Hz.
const batchTime = time.Second / 60

// bridge collects events between two frames, from any goroutine, and hands them to the event loop
// as one batch. It drops nothing: pieces of one text are joined, and the newest update of a call
// replaces the older one in its place; everything else stays unchanged and in order.
type bridge struct {
	mu      sync.Mutex
	pending []any
	texts   map[textKey]int // index in pending of a text that still grows
	updates map[tool.CallID]int
	forming map[tool.CallID]int
	closed  bool
	wake    chan struct{}
}

type textKey struct {
	message   string
	reasoning bool
}

// textRun is a text that still grows while it waits.
type textRun struct {
	textKey
	b strings.Builder
}

func newBridge() *bridge {
	b := &bridge{wake: make(chan struct{}, 1)}
	b.barrier()
	return b
}

// add adds a session event.
func (b *bridge) add(e session.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := e.(type) {
	case session.TextDelta:
		b.text(textKey{e.Message, false}, e.Delta)
	case session.ReasoningDelta:
		b.text(textKey{e.Message, true}, e.Delta)
	case session.ToolUpdate:
		b.update(e)
	case session.CallForming:
		b.newest(b.forming, e.Call, e)
	default:
		b.append(e)
		b.barrier()
	}
	b.rouse()
}

// push adds an internal message, ordered after all earlier events.
func (b *bridge) push(x any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.append(x)
	b.barrier()
	b.rouse()
}

func (b *bridge) append(x any) {
	if !b.closed {
		b.pending = append(b.pending, x)
	}
}

// barrier prevents later events from merging into earlier ones.
func (b *bridge) barrier() {
	b.texts = map[textKey]int{}
	b.updates = map[tool.CallID]int{}
	b.forming = map[tool.CallID]int{}
}

func (b *bridge) text(key textKey, piece string) {
	if b.closed {
		return
	}
	i, grows := b.texts[key]
	if !grows {
		i = len(b.pending)
		b.pending = append(b.pending, &textRun{textKey: key})
		b.texts[key] = i
		// A message's thinking and answer alternate: neither may be merged past the other.
		delete(b.texts, textKey{key.message, !key.reasoning})
	}
	b.pending[i].(*textRun).b.WriteString(piece)
}

func (b *bridge) update(e session.ToolUpdate) {
	if i, ok := b.updates[e.Call]; ok {
		old := b.pending[i].(session.ToolUpdate)
		if e.Title == "" {
			e.Title = old.Title
		}
		if e.Metadata == nil {
			e.Metadata = old.Metadata
		}
	}
	b.newest(b.updates, e.Call, e)
}

func (b *bridge) newest(at map[tool.CallID]int, call tool.CallID, e session.Event) {
	if i, ok := at[call]; ok {
		b.pending[i] = e
		return
	}
	at[call] = len(b.pending)
	b.append(e)
}

func (b *bridge) rouse() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take returns the pending messages and empties the bridge.
func (b *bridge) take() batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.pending
	b.pending = nil
	if len(out) > 0 {
		b.barrier()
	}
	for i, x := range out {
		if run, ok := x.(*textRun); ok {
			out[i] = run.event()
		}
	}
	return out
}

func (r *textRun) event() session.Event {
	if r.reasoning {
		return session.ReasoningDelta{Message: r.message, Delta: r.b.String()}
	}
	return session.TextDelta{Message: r.message, Delta: r.b.String()}
}

// pump sends batches until ctx ends. It sleeps while there are none.
func (b *bridge) pump(ctx context.Context, send func(batch)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.wake:
		}
		if got := b.take(); len(got) > 0 {
			send(got)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(batchTime):
		}
	}
}

// close discards pending and later messages.
func (b *bridge) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.pending = true, nil
	b.barrier()
}

// ofSubagent reports whether e belongs to a subagent's call.
func ofSubagent(e session.Event) bool {
	switch e := e.(type) {
	case session.ToolQueued:
		return e.Parent != ""
	case session.ToolStart:
		return e.Parent != ""
	case session.ToolUpdate:
		return e.Parent != ""
	case session.ToolAsk:
		return e.Parent != ""
	case session.ToolEnd:
		return e.Parent != ""
	}
	return false
}
