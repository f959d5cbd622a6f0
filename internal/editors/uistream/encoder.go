package uistream

import (
	"cmp"

	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// An Encoder encodes one turn for one reader. It is not safe for concurrent use.
type Encoder struct {
	options  Options
	id       string // of the answer; empty until known
	begun    bool
	finished bool
	step     string          // message of the open step, or ""
	spent    *session.Usage  // of that message
	ended    map[string]bool // messages sent completely
	text     openText
	calls    map[tool.CallID]*call
	order    []tool.CallID
}

// New returns an Encoder that has sent nothing.
func New(o Options) *Encoder {
	return &Encoder{options: o, ended: map[string]bool{}, calls: map[tool.CallID]*call{}}
}

// ID returns the answer's ID, or "" until it is known.
func (e *Encoder) ID() string { return e.id }

// Finished reports whether the turn has ended and everything was sent.
func (e *Encoder) Finished() bool { return e.finished }

// Take encodes an event.
func (e *Encoder) Take(event session.Event) []Part {
	if e.finished {
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

// begin starts the answer once.
func (e *Encoder) begin() []Part {
	if e.begun {
		return nil
	}
	e.begun = true
	return []Part{{Type: "start", MessageID: e.id}}
}

// enter starts a message's step.
func (e *Encoder) enter(message string) []Part {
	if e.step == message && message != "" {
		return nil
	}
	out := append(e.begin(), e.leave()...)
	e.step, e.text.parts, e.text.came = message, 0, [2]int{}
	return append(out, Part{Type: "start-step"})
}

func (e *Encoder) leave() []Part {
	if e.step == "" {
		return nil
	}
	out := append(e.closePart(), Part{Type: "finish-step", Usage: usage(e.spent)})
	e.step, e.spent = "", nil
	return out
}

func usage(u *session.Usage) *Usage {
	if u == nil {
		return nil
	}
	return &Usage{InputTokens: u.Input + u.CacheRead + u.CacheWrite, OutputTokens: u.Output}
}

// notice sends a text outside messages. Later readers neither get nor need it.
func (e *Encoder) notice(text string) []Part {
	return append(e.begin(), Part{Type: "data-notice", Data: Notice{redact.Passwords(text)}, Transient: true})
}

// Pause ends the stream at a question, in the middle of a turn; Resume continues it. An open call
// gets a placeholder result, because interfaces send an approval only when no other call is open.
func (e *Encoder) Pause(q Question) []Part {
	out := e.closePart()
	for _, id := range e.order {
		c := e.calls[id]
		if !c.argsSent || c.ended || q.Kind == Permission && id == q.Call {
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

// Resume reopens the answer for a reader that continues after a question, and names the open calls.
// id is the message to continue in; empty means the same one.
func (e *Encoder) Resume(id string) []Part {
	e.id, e.begun = cmp.Or(id, e.id), false
	out := e.begin()
	for _, id := range e.order {
		if c := e.calls[id]; c.argsSent && !c.ended {
			out = append(out, Part{Type: "tool-input-available", ToolCallID: id, ToolName: c.name, Input: c.shownInput(), Dynamic: true})
		}
	}
	return out
}

// finish ends the answer with the turn's result.
func (e *Encoder) finish(r session.Result) []Part {
	out := append(e.begin(), e.closePart()...)
	for _, id := range e.order {
		switch c := e.calls[id]; {
		case c.ended:
		case c.argsSent:
			out = append(out, c.fails("aborted: the turn ended before the call did"))
		case c.nameSent:
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
	e.finished = true
	return append(out, Part{Type: "finish", FinishReason: reason, Usage: usage(&sum)})
}
