package uistream

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// call is a call's state in the stream.
type call struct {
	id        tool.CallID
	name      string
	message   string          // the message being written with it
	arguments string          // as written by the model
	input     json.RawMessage // repaired, or safe for a log; nil if same as arguments
	nameSent  bool            // its name was sent
	argsSent  bool            // its arguments were sent
	ended     bool
}

// callByID returns the call with an ID, creating it if new.
func (e *Encoder) callByID(id tool.CallID, name string) *call {
	c, known := e.calls[id]
	if !known {
		c = &call{id: id, name: name}
		e.calls[id] = c
		e.order = append(e.order, id)
	}
	return c
}

// shownInput returns the arguments for readers: as canonical JSON, so they can be compared.
func (c *call) shownInput() json.RawMessage {
	raw := c.input
	if raw == nil {
		raw = json.RawMessage(cmp.Or(c.arguments, "{}"))
	}
	var value any
	if json.Unmarshal(raw, &value) != nil || poisoned(value) {
		return quoted(redact.Passwords(string(raw)))
	}
	return veiled(raw)
}

// poisoned reports whether value has keys that decoders reject, with the whole stream, because in
// JavaScript they affect an object's prototype. Such arguments are shown as text.
func poisoned(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			if name == "__proto__" || name == "constructor" || poisoned(field) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, poisoned)
	}
	return false
}

// Input returns a call's arguments as shown to readers, or nil if they were not shown.
func (e *Encoder) Input(id tool.CallID) json.RawMessage {
	c, known := e.calls[id]
	if !known || !c.argsSent {
		return nil
	}
	return e.options.mask().JSON(c.shownInput())
}

// veiled removes passwords and spaces from JSON.
func veiled(raw json.RawMessage) json.RawMessage {
	if text := json.RawMessage(redact.Passwords(string(raw))); json.Valid(text) {
		raw = text
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return quoted(string(raw))
	}
	return b.Bytes()
}

func quoted(text string) json.RawMessage {
	raw, _ := json.Marshal(text) // a string always encodes
	return raw
}

// forming names a call being written, if no other call is open.
func (e *Encoder) forming(f session.CallForming) []Part {
	if f.Call == "" || f.Name == "" || e.ended[f.Message] || e.calls[f.Call] != nil {
		return nil
	}
	for _, c := range e.calls {
		if c.nameSent && !c.ended {
			return nil
		}
	}
	out := append(e.enter(f.Message), e.closePart()...)
	c := e.callByID(f.Call, f.Name)
	c.message, c.nameSent = f.Message, true
	return append(out, Part{Type: "tool-input-start", ToolCallID: c.id, ToolName: c.name, Dynamic: true})
}

// broken ends a call the model did not finish.
func (e *Encoder) broken(c *call, why string) []Part {
	return append(e.show(c), c.fails(why))
}

// show sends a call and its arguments once.
func (e *Encoder) show(c *call) []Part {
	if c.argsSent {
		return nil
	}
	out := append(e.begin(), e.closePart()...)
	if e.step == "" {
		out = append(out, e.enter("calls-"+string(c.id))...)
	}
	if !c.nameSent {
		out = append(out, Part{Type: "tool-input-start", ToolCallID: c.id, ToolName: c.name, Dynamic: true})
	}
	input := c.shownInput()
	out = append(out, Part{Type: "tool-input-delta", ToolCallID: c.id, InputTextDelta: string(e.options.mask().JSON(input))})
	c.nameSent, c.argsSent = true, true
	return append(out, Part{Type: "tool-input-available", ToolCallID: c.id, ToolName: c.name, Input: input, Dynamic: true})
}

// started shows a call's start. A subagent's call is progress of its parent call.
func (e *Encoder) started(ev tool.Event) []Part {
	if ev.Parent != "" && e.calls[ev.Call] == nil {
		return e.progress(Progress{ToolCallID: ev.Parent, ToolName: ev.Tool, Title: ev.Title, Agent: ev.Agent})
	}
	c := e.callByID(ev.Call, ev.Tool)
	c.mended(ev.Repair, ev.Args)
	return e.show(c)
}

// mended stores the repaired arguments.
func (c *call) mended(r *tool.Repair, logged json.RawMessage) {
	switch {
	case r != nil && json.Valid(r.After):
		c.input = r.After
	case c.arguments == "" && json.Valid(logged):
		c.input = logged
	}
}

func (e *Encoder) updated(ev tool.Event) []Part {
	p := Progress{ToolCallID: cmp.Or(ev.Parent, ev.Call), ToolName: ev.Tool, Title: ev.Title, Agent: ev.Agent}
	if e.options.Blocks != nil && len(ev.Metadata) > 0 {
		p.Blocks = e.options.Blocks(ev.Tool, ev.Metadata)
	}
	return e.progress(p)
}

// progress sends a shown call's progress.
func (e *Encoder) progress(p Progress) []Part {
	if c := e.calls[p.ToolCallID]; c == nil || !c.argsSent || c.ended {
		return nil
	}
	p.Title = redact.Passwords(p.Title)
	return []Part{{Type: "data-progress", ID: string(p.ToolCallID), Data: p}}
}

// outcome sends a call's end. Failures are errors with their code, also denials: not all clients
// support the part for denials.
func (e *Encoder) outcome(end session.ToolEnd) []Part {
	o := end.Outcome
	if end.Parent != "" && e.calls[o.Call] == nil {
		return e.progress(Progress{ToolCallID: end.Parent, ToolName: o.Tool, Title: o.Title, Agent: end.Agent, Status: o.Status})
	}
	c := e.callByID(o.Call, o.Tool)
	if c.ended {
		return nil
	}
	c.mended(o.Repair, o.Record.Args)
	out := e.show(c)
	if o.Status != tool.Completed {
		code := cmp.Or(o.Code, string(o.Status))
		text := cmp.Or(o.Output, code)
		if !strings.HasPrefix(text, code) {
			text = code + ": " + text
		}
		return append(out, c.fails(text))
	}
	c.ended = true
	return append(out, Part{Type: "tool-output-available", ToolCallID: c.id, Output: quoted(o.Output), Dynamic: true})
}

func (c *call) fails(text string) Part {
	c.ended = true
	return Part{Type: "tool-output-error", ToolCallID: c.id, ErrorText: text, Dynamic: true}
}

// Ask sends a question. It shows a subagent's call, since approvals need a call.
func (e *Encoder) Ask(q Question) []Part {
	if e.finished {
		return nil
	}
	if q.Kind != Permission {
		return append(e.begin(), Part{Type: "data-question", ID: q.ID, Data: q})
	}
	c := e.callByID(q.Call, q.Tool)
	if len(q.Input) > 0 {
		c.mended(&tool.Repair{After: q.Input}, nil)
	}
	// Send the question's data first: some interfaces ask as soon as they read the request.
	out := append(e.show(c), Part{Type: "data-question", ID: q.ID, Data: q})
	return append(out, Part{Type: "tool-approval-request", ApprovalID: q.ID, ToolCallID: q.Call})
}

// AnswerQuestion sends the answer and its origin.
func (e *Encoder) AnswerQuestion(q Question, answered string) []Part {
	if e.finished {
		return nil
	}
	q.Answered = answered
	return []Part{{Type: "data-question", ID: q.ID, Data: q}}
}
