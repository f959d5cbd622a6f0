package agents

import (
	"fmt"
	"slices"
	"strings"

	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// Bounds of what is kept to be shown, in bytes and calls.
const (
	maxLine = 200
	maxDid  = 100
)

// watch is what is shown of a subagent. Its session calls see one event at a time.
type watch struct {
	calls   []string // that ended, each in a line
	left    int      // that are not among them
	changed []string
	last    string
	message string // that it writes, or wrote last
	warned  bool
}

// see follows one event of the subagent: its calls are shown as its own, its text as the newest
// line.
func (w *work) see(e session.Event) {
	switch e := e.(type) {
	case session.TextDelta:
		if e.Message != w.message {
			w.message, w.text = e.Message, ""
		}
		w.text = tail(w.text + e.Delta)
	case session.MessageDone:
		w.hurry(e.Message)
	case session.ToolQueued:
		e.Event = w.mark(e.Event)
		w.show(e)
		return // it does nothing yet
	case session.ToolStart:
		e.Event = w.mark(e.Event)
		w.show(e)
	case session.ToolUpdate:
		e.Event = w.mark(e.Event)
		w.show(e)
		return // the call is shown itself
	case session.ToolAsk:
		e.Event = w.mark(e.Event)
		w.show(e)
	case session.ToolEnd:
		w.ended(e.Outcome)
		e.Parent, e.Agent = w.request.Call, w.name
		e.Outcome.Call = session.CallOf(w.request.Call, e.Outcome.Call)
		w.show(e)
	case session.Retry:
		w.last = clip(fmt.Sprintf("! %s; attempt %d of %d", e.Cause, e.Attempt, e.Of))
	case session.Requested:
		e.Parent, e.Agent = w.request.Call, w.name
		w.show(e)
		return // its answer is shown itself
	case session.TurnEnd:
		w.show(session.TaskEnd{Parent: w.request.Call, Agent: w.name, Result: e.Result})
		return
	case session.Notice:
		w.show(session.Notice{Text: w.name + ": " + e.Text})
	default:
		return
	}
	w.tell("works")
}

// mark makes an event of the subagent's one of the main conversation's stream.
func (w *work) mark(e tool.Event) tool.Event {
	e.Call, e.Parent, e.Agent = session.CallOf(w.request.Call, e.Call), w.request.Call, w.name
	return e
}

func (w *work) show(e session.Event) {
	if w.config.Observe != nil {
		w.config.Observe(e)
	}
}

func (w *work) ended(o tool.Outcome) {
	w.last = clip(strings.TrimSpace(mark(o.Status) + " " + o.Headed().String()))
	if len(w.calls) < maxDid {
		w.calls = append(w.calls, w.last)
	} else {
		w.left++
	}
	for _, path := range o.Changed {
		if !slices.Contains(w.changed, path) {
			w.changed = append(w.changed, path)
		}
	}
}

func mark(s tool.Status) string {
	switch s {
	case tool.Completed:
		return "✓"
	case tool.Denied, tool.Aborted:
		return "⊘"
	}
	return "✗"
}

// hurry tells a subagent that is about to reach its limit to report what it has: a report of half
// the work is worth more than none.
func (w *work) hurry(m session.Message) {
	if w.warned || w.most < 2 || m.Role != session.Assistant || len(m.Calls()) == 0 || w.counts().Steps < w.most-1 {
		return
	}
	w.warned = true
	w.session.Steer("This is your last step: the limit of your model requests is reached. Call no more tools. Report now what you found and what is left.")
}

// tell passes on what the subagent does now.
func (w *work) tell(state string) {
	w.progress(toolset.TaskProgress{
		ID: string(w.id), Agent: w.kind.Label(), State: state, Last: w.last, Says: lastLine(w.text), TaskCounts: w.counts(),
	})
}

func (w *work) counts() toolset.TaskCounts {
	if w.session == nil || w.session.Budget() == nil {
		return toolset.TaskCounts{}
	}
	s := w.session.Budget().Spent()
	return toolset.TaskCounts{Steps: s.Steps, Calls: s.Calls, Tokens: s.Tokens, Cost: s.Cost}
}

// did lists the calls that ended.
func (w *watch) did() []string {
	if w.left == 0 {
		return w.calls
	}
	return append(slices.Clone(w.calls), fmt.Sprintf("… %d more", w.left))
}

// lastLine is the newest line of a text that says something.
func lastLine(text string) string {
	text = strings.TrimRight(text, "\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// tail keeps the end of a text that grows.
func tail(text string) string {
	if len(text) <= maxLine {
		return text
	}
	return "…" + strings.TrimPrefix(strings.ToValidUTF8(text[len(text)-maxLine:], ""), "…")
}

func clip(line string) string {
	if len(line) <= maxLine {
		return line
	}
	return strings.ToValidUTF8(line[:maxLine], "") + "…"
}
