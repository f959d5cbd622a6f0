package serve

import (
	"reflect"
	"slices"

	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// maxCalls is how many events of calls that run are kept for a page that comes later.
const maxCalls = 400

// keep keeps the newest that was told of each call that runs.
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
	a := pageState{running: r.turn.abort != nil && !r.turn.over}
	a.reader, a.events = r.join(everyTurn)
	a.reader.woken = woken
	if r.counted != nil {
		a.events = append(a.events, item{event: *r.counted})
	}
	return a
}

// anew has pages read the session from its log once more: something of it was taken back.
func (r *room) anew() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.passTo(everyTurn, item{anew: true})
}
