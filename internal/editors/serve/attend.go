package serve

import (
	"slices"

	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// maxCalls is how many events of calls that run are kept for a page that comes later.
const maxCalls = 400

// follow keeps the newest that was told of each call that runs.
func (t *turn) follow(e session.Event) {
	switch ev := e.(type) {
	case session.ToolQueued:
		t.keep(e, ev.Event, func(o session.Event) (tool.Event, bool) { q, is := o.(session.ToolQueued); return q.Event, is })
	case session.ToolStart:
		t.keep(e, ev.Event, func(o session.Event) (tool.Event, bool) { q, is := o.(session.ToolStart); return q.Event, is })
	case session.ToolUpdate:
		t.keep(e, ev.Event, func(o session.Event) (tool.Event, bool) { q, is := o.(session.ToolUpdate); return q.Event, is })
	case session.ToolEnd:
		if ev.Parent != "" {
			t.calls = append(t.calls, e)
			return
		}
		t.calls = slices.DeleteFunc(t.calls, func(o session.Event) bool {
			call, parent := whose(o)
			return call == ev.Outcome.Call || parent == ev.Outcome.Call
		})
	}
}

func (t *turn) keep(e session.Event, of tool.Event, same func(session.Event) (tool.Event, bool)) {
	for i, o := range t.calls {
		if before, is := same(o); is && before.Call == of.Call {
			t.calls[i] = e
			return
		}
	}
	if t.calls = append(t.calls, e); len(t.calls) > maxCalls {
		t.calls = t.calls[1:]
	}
}

// whose are the call of an event, and the one that it works for.
func whose(e session.Event) (call, parent tool.CallID) {
	switch ev := e.(type) {
	case session.ToolQueued:
		return ev.Call, ev.Parent
	case session.ToolStart:
		return ev.Call, ev.Parent
	case session.ToolUpdate:
		return ev.Call, ev.Parent
	case session.ToolEnd:
		return ev.Outcome.Call, ev.Parent
	}
	return "", ""
}

// does keeps what goes on, for the list of sessions.
func (r *room) does(e session.Event) {
	switch ev := e.(type) {
	case session.ReasoningDelta:
		r.doing = "thinking"
	case session.TextDelta:
		r.doing = "writing"
	case session.ToolStart:
		if ev.Parent == "" {
			r.doing = redact.Passwords(tool.HeadingOr(ev.Heading, ev.Tool, ev.Title, ev.Args).String())
		}
	case session.TurnEnd:
		r.doing = ""
	}
}

// pageState is what a page needs of a session that is open, beside its log.
type pageState struct {
	reader  *reader
	events  []item // of the turn that runs, that are not in the log
	running bool
	// follow, unless it is nil, begins to tell the reader what is behind a position in the log,
	// except what was seen. It is called when the log was read. It reports that a turn runs.
	follow func(after int64, seen map[string]bool) (running bool)
}

// attend has a reader told all that happens from here on; woken is where it is told that something
// did.
func (r *room) attend(woken chan struct{}) pageState {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := newReader(everyTurn)
	q.woken = woken
	r.readers[q] = struct{}{}
	a := pageState{reader: q, running: r.turn.abort != nil && !r.turn.over}
	if a.running {
		for _, it := range r.turn.under {
			it.text = slices.Clone(it.text)
			a.events = append(a.events, it)
		}
		for _, e := range r.turn.calls {
			a.events = append(a.events, item{event: e})
		}
	}
	if r.counted != nil {
		a.events = append(a.events, item{event: *r.counted})
	}
	if r.asked != nil {
		question := r.asked.Question
		a.events = append(a.events, item{question: &question, asked: r.asked})
	}
	return a
}

// anew has pages read the session from its log once more: something of it was taken back.
func (r *room) anew() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.passTo(everyTurn, item{anew: true})
}
