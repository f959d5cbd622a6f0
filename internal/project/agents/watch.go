package agents

import (
	"fmt"
	"slices"
	"strings"

	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// Limits of the stored progress, in bytes and calls.
const (
	maxLine = 200
	maxDid  = 100
)

// watch holds a subagent's progress. Its session delivers one event at a time.
type watch struct {
	calls   []string // finished calls, one per line
	left    int      // omitted calls
	changed []string
	last    string
	message string // current or last message's id
	warned  bool
}

// see handles a subagent's event: calls are shown as its own, text as the newest line.
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
		return // it has not started
	case session.ToolStart:
		e.Event = w.mark(e.Event)
		w.show(e)
	case session.ToolUpdate:
		e.Event = w.mark(e.Event)
		w.show(e)
		return // the call itself is shown
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
		return // the response itself is shown
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

// mark converts a subagent's event to one of the main conversation.
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

// hurry asks a subagent close to its limit for its report: half of the work is better than none.
func (w *work) hurry(m session.Message) {
	if w.warned || w.maxRequests < 2 || m.Role != session.Assistant || len(m.Calls()) == 0 || w.counts().Steps < w.maxRequests-1 {
		return
	}
	w.warned = true
	w.session.Steer("This is your last step: the limit of your model requests is reached. Call no more tools. Report now what you found and what is left.")
}

func (w *work) tell(state string) {
	w.progress(toolset.TaskProgress{
		ID: string(w.id), Agent: w.kind.Label(), State: state, Last: w.last, LatestLine: lastLine(w.text), TaskCounts: w.counts(),
	})
}

func (w *work) counts() toolset.TaskCounts {
	if w.session == nil || w.session.Budget() == nil {
		return toolset.TaskCounts{}
	}
	s := w.session.Budget().Spending()
	return toolset.TaskCounts{Steps: s.Steps, Calls: s.Calls, Tokens: s.Tokens, Cost: s.Cost}
}

func (w *watch) did() []string {
	if w.left == 0 {
		return w.calls
	}
	return append(slices.Clone(w.calls), fmt.Sprintf("… %d more", w.left))
}

func lastLine(text string) string {
	text = strings.TrimRight(text, "\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// tail shortens a growing text to its end.
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
