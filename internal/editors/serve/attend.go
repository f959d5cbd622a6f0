package serve

import (
	"reflect"
	"slices"

	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// maxCalls limits the running calls' events kept for later pages.
const maxCalls = 400

// keep stores the newest events of running calls.
func (t *turn) keep(e session.Event) {
	call, parent := whose(e)
	end, ends := e.(session.ToolEnd)
	switch at := slices.IndexFunc(t.calls, func(o item) bool {
		of, _ := whose(o.event)
		return of == call && reflect.TypeOf(o.event) == reflect.TypeOf(e)
	}); {
	case call == "":
	case ends && parent == "":
		t.calls = slices.DeleteFunc(t.calls, func(o item) bool {
			of, parent := whose(o.event)
			return of == end.Outcome.Call || parent == end.Outcome.Call
		})
	case at >= 0:
		t.calls[at].event = e
	default:
		t.calls = append(t.calls, item{event: e})
		t.calls = t.calls[max(0, len(t.calls)-maxCalls):]
	}
}

// whose returns an event's call and that call's parent.
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

// does updates the session's activity for the list of sessions.
func (r *sharedSession) does(e session.Event) {
	switch ev := e.(type) {
	case session.ReasoningDelta:
		r.activity = "thinking"
	case session.TextDelta:
		r.activity = "writing"
	case session.ToolStart:
		if ev.Parent == "" {
			r.activity = redact.Passwords(tool.HeadingOr(ev.Heading, ev.Tool, ev.Title, ev.Args).String())
		}
	case session.TurnEnd:
		r.activity = ""
	}
}

// pageState holds a page's data of an open session in addition to its log.
type pageState struct {
	reader  *reader
	events  []item // unlogged events of the running turn
	running bool
	// follow, if not nil, must be called after reading the log. It starts sending events after a
	// log position, except seen ones, and reports whether a turn runs.
	follow func(after int64, seen map[string]bool) (running bool)
}

// attend registers a reader for all events from now on. woken receives its wake-ups.
func (r *sharedSession) attend(woken chan struct{}) pageState {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := pageState{running: r.turn.abort != nil && !r.turn.endReported}
	a.reader, a.events = r.join(everyTurn)
	a.reader.wake = woken
	if r.counted != nil {
		a.events = append(a.events, item{event: *r.counted})
	}
	return a
}

// anew makes pages reread the log after a part was reverted.
func (r *sharedSession) anew() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.passTo(everyTurn, item{anew: true})
}
