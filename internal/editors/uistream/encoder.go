package uistream

import (
	"cmp"

	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// Encoder tells one turn to one reader. It is for one goroutine.
type Encoder struct {
	options Options
	id      string // of the answer; if empty, not known yet
	begun   bool
	over    bool
	step    string          // the message whose step is open; if empty, none is
	spent   *session.Usage  // by that message
	ended   map[string]bool // messages that were told whole
	text    openText
	calls   map[tool.CallID]*call
	order   []tool.CallID
}

// New is an Encoder that has told nothing.
func New(o Options) *Encoder {
	return &Encoder{options: o, ended: map[string]bool{}, calls: map[tool.CallID]*call{}}
}

// ID is the answer's; if empty, it is not known yet.
func (e *Encoder) ID() string { return e.id }

// Over reports that the turn has ended and all was told.
func (e *Encoder) Over() bool { return e.over }

// Take tells an event.
func (e *Encoder) Take(event session.Event) []Part {
	if e.over {
		return nil
	}
	switch ev := event.(type) {
	case session.TextDelta:
		return e.piece(ev.Message, session.TextPart, ev.Delta)
	case session.ReasoningDelta:
		return e.piece(ev.Message, session.ReasoningPart, ev.Delta)
	case session.CallForming:
		return e.forming(ev)
	case session.MessageDone:
		return e.message(ev.Message)
	case session.ToolStart:
		return e.started(ev.Event)
	case session.ToolUpdate:
		return e.updated(ev.Event)
	case session.ToolEnd:
		return e.outcome(ev)
	case session.Retry:
		return e.retry(ev)
	case session.Notice:
		return e.notice(ev.Text)
	case session.Unsaved:
		return e.notice(ev.String())
	case session.Compacted:
		return e.notice("the beginning of the conversation was summed up")
	case session.TurnEnd:
		return e.finish(ev.Result)
	}
	return nil
}

// message tells a message that is stored.
func (e *Encoder) message(m session.Message) []Part {
	switch {
	case m.Role == session.Assistant:
		return e.whole(m)
	case Prompts(m) && !e.begun:
		e.id = AnswerID(m.ID)
		return e.begin()
	case m.Role == session.User && m.Meanwhile && !e.ended[m.ID]:
		e.ended[m.ID] = true
		return e.notice("heard: " + m.Text())
	}
	return nil
}

// begin opens the answer, once.
func (e *Encoder) begin() []Part {
	if e.begun {
		return nil
	}
	e.begun = true
	return []Part{{Type: "start", MessageID: e.id}}
}

// enter opens the step of a message, behind the one before.
func (e *Encoder) enter(message string) []Part {
	if e.step == message && message != "" {
		return nil
	}
	out := append(e.begin(), e.leave()...)
	e.step, e.text.parts, e.text.came = message, 0, [2]int{}
	return append(out, Part{Type: "start-step"})
}

// leave closes the step that is open.
func (e *Encoder) leave() []Part {
	if e.step == "" {
		return nil
	}
	out := append(e.hush(), Part{Type: "finish-step", Usage: usage(e.spent)})
	e.step, e.spent = "", nil
	return out
}

func usage(u *session.Usage) *Usage {
	if u == nil {
		return nil
	}
	return &Usage{InputTokens: u.Input + u.CacheRead + u.CacheWrite, OutputTokens: u.Output}
}

// notice tells something that is in no message. A reader that comes later does not miss it.
func (e *Encoder) notice(text string) []Part {
	return append(e.begin(), Part{Type: "data-notice", Data: Notice{redact.Passwords(text)}, Transient: true})
}

// Pause ends what is told to a reader at a question, in the middle of a turn; Resume goes on. A
// call that is open gets a word in place of its result, because interfaces send an approval only
// when no other call is open.
func (e *Encoder) Pause(q Question) []Part {
	out := e.hush()
	for _, id := range e.order {
		c := e.calls[id]
		if !c.shown || c.over || q.Kind == Permission && id == q.Call {
			continue
		}
		word := "still running; the result follows"
		if id == q.Call {
			word = "asked; the next message is the answer"
		}
		out = append(out, Part{Type: "tool-output-available", ToolCallID: id, Output: quoted(word), Dynamic: true})
	}
	out = append(out, e.leave()...)
	return append(out, Part{Type: "finish", FinishReason: "tool-calls"})
}

// Resume opens the answer once more for a reader that goes on behind a question, and names the
// calls that are open. Id is the message that it goes on in; if empty, the same.
func (e *Encoder) Resume(id string) []Part {
	e.id, e.begun = cmp.Or(id, e.id), false
	out := e.begin()
	for _, id := range e.order {
		if c := e.calls[id]; c.shown && !c.over {
			out = append(out, Part{Type: "tool-input-available", ToolCallID: id, ToolName: c.name, Input: c.shownInput(), Dynamic: true})
		}
	}
	return out
}

// finish ends the answer as the turn ended.
func (e *Encoder) finish(r session.Result) []Part {
	out := append(e.begin(), e.hush()...)
	for _, id := range e.order {
		switch c := e.calls[id]; {
		case c.over:
		case c.shown:
			out = append(out, c.fails("aborted: the turn ended before the call did"))
		case c.begun:
			out = append(out, e.broken(c, "aborted: the turn ended before the call was written")...)
		}
	}
	out = append(out, e.leave()...)
	if len(r.Claims)+len(r.Evidence) > 0 {
		out = append(out, Part{Type: "data-claims", ID: "claims", Data: Claims{r.Claims, r.Evidence}})
	}
	reason := "error"
	if r.Cause != session.CauseDone {
		out = append(out, Part{Type: "data-end", Data: End{Cause: r.Cause, Text: redact.Passwords(cmp.Or(r.Message, string(r.Cause))), Hint: redact.Passwords(r.Hint)}})
	}
	switch r.Cause {
	case session.CauseDone:
		reason = "stop"
	case session.CauseTruncated:
		reason = "length"
	case session.CauseRefused:
		reason = "content-filter"
	case session.CauseInterrupted, session.CauseTerminated, session.CauseClosed, session.CauseTaken:
		reason = "other"
		out = append(out, Part{Type: "abort", Reason: cmp.Or(r.Message, string(r.Cause))})
	default:
		text := cmp.Or(r.Message, string(r.Cause))
		if r.Hint != "" {
			text += " (" + r.Hint + ")"
		}
		out = append(out, Part{Type: "error", ErrorText: redact.Passwords(text)})
	}
	var sum session.Usage
	for _, u := range r.Usage {
		sum = sum.Add(u)
	}
	e.over = true
	return append(out, Part{Type: "finish", FinishReason: reason, Usage: usage(&sum)})
}
