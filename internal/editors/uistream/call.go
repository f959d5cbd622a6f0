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

// call is what was told of a call.
type call struct {
	id        tool.CallID
	name      string
	message   string          // that it is being written in
	arguments string          // as the model wrote them
	input     json.RawMessage // as they were mended, or as a log may have them; if nil, arguments are what there is
	begun     bool            // its name is told
	shown     bool            // its arguments are
	over      bool
}

// learn finds a call, or takes a new one.
func (e *Encoder) learn(id tool.CallID, name string) *call {
	c, known := e.calls[id]
	if !known {
		c = &call{id: id, name: name}
		e.calls[id] = c
		e.order = append(e.order, id)
	}
	return c
}

// shownInput is what a reader sees of the arguments: JSON, in one form, so that it can be compared.
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

// poisoned reports names that the decoders refuse, and their whole stream with them, because in
// JavaScript they reach further than the object that they stand in. Such arguments are shown as
// text.
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

// Input is the arguments of a call as readers are shown them; if nil, they were shown none.
func (e *Encoder) Input(id tool.CallID) json.RawMessage {
	c, known := e.calls[id]
	if !known || !c.shown {
		return nil
	}
	return e.options.mask().JSON(c.shownInput())
}

// veiled is JSON without passwords and without the spaces in it.
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
	raw, _ := json.Marshal(text) // a string has always a form
	return raw
}

// forming shows by its name a call that is being written, where no other call is open.
func (e *Encoder) forming(f session.CallForming) []Part {
	if f.Call == "" || f.Name == "" || e.ended[f.Message] || e.calls[f.Call] != nil {
		return nil
	}
	for _, c := range e.calls {
		if c.begun && !c.over {
			return nil
		}
	}
	out := append(e.enter(f.Message), e.hush()...)
	c := e.learn(f.Call, f.Name)
	c.message, c.begun = f.Message, true
	return append(out, Part{Type: "tool-input-start", ToolCallID: c.id, ToolName: c.name, Dynamic: true})
}

// broken ends a call that the model did not finish.
func (e *Encoder) broken(c *call, why string) []Part {
	return append(e.show(c), c.fails(why))
}

// show tells a call and its arguments, once.
func (e *Encoder) show(c *call) []Part {
	if c.shown {
		return nil
	}
	out := append(e.begin(), e.hush()...)
	if e.step == "" {
		out = append(out, e.enter("calls-"+string(c.id))...)
	}
	if !c.begun {
		out = append(out, Part{Type: "tool-input-start", ToolCallID: c.id, ToolName: c.name, Dynamic: true})
	}
	input := c.shownInput()
	out = append(out, Part{Type: "tool-input-delta", ToolCallID: c.id, InputTextDelta: string(e.options.mask().JSON(input))})
	c.begun, c.shown = true, true
	return append(out, Part{Type: "tool-input-available", ToolCallID: c.id, ToolName: c.name, Input: input, Dynamic: true})
}

// started shows a call that begins. One of a subagent is progress of the call that it works for.
func (e *Encoder) started(ev tool.Event) []Part {
	if ev.Parent != "" && e.calls[ev.Call] == nil {
		return e.progress(Progress{ToolCallID: ev.Parent, ToolName: ev.Tool, Title: ev.Title, Agent: ev.Agent})
	}
	c := e.learn(ev.Call, ev.Tool)
	c.mended(ev.Repair, ev.Args)
	return e.show(c)
}

// mended keeps what the arguments really are.
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

// progress tells how far a call is that is shown.
func (e *Encoder) progress(p Progress) []Part {
	if c := e.calls[p.ToolCallID]; c == nil || !c.shown || c.over {
		return nil
	}
	p.Title = redact.Passwords(p.Title)
	return []Part{{Type: "data-progress", ID: string(p.ToolCallID), Data: p}}
}

// outcome tells how a call ended. What did not work is an error with its code, a denial too: the
// part for a denial is not read by all.
func (e *Encoder) outcome(end session.ToolEnd) []Part {
	o := end.Outcome
	if end.Parent != "" && e.calls[o.Call] == nil {
		return e.progress(Progress{ToolCallID: end.Parent, ToolName: o.Tool, Title: o.Title, Agent: end.Agent, Status: o.Status})
	}
	c := e.learn(o.Call, o.Tool)
	if c.over {
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
	c.over = true
	return append(out, Part{Type: "tool-output-available", ToolCallID: c.id, Output: quoted(o.Output), Dynamic: true})
}

func (c *call) fails(text string) Part {
	c.over = true
	return Part{Type: "tool-output-error", ToolCallID: c.id, ErrorText: text, Dynamic: true}
}

// Ask tells a question. The call of a subagent is shown for it: an approval stands at a call.
func (e *Encoder) Ask(q Question) []Part {
	if e.over {
		return nil
	}
	if q.Kind != Permission {
		return append(e.begin(), Part{Type: "data-question", ID: q.ID, Data: q})
	}
	c := e.learn(q.Call, q.Tool)
	if len(q.Input) > 0 {
		c.mended(&tool.Repair{After: q.Input}, nil)
	}
	// What it is about comes first: some interfaces ask as soon as they read the request.
	out := append(e.show(c), Part{Type: "data-question", ID: q.ID, Data: q})
	return append(out, Part{Type: "tool-approval-request", ApprovalID: q.ID, ToolCallID: q.Call})
}

// Settle tells what was answered, and where.
func (e *Encoder) Settle(q Question, answered string) []Part {
	if e.over {
		return nil
	}
	q.Answered = answered
	return []Part{{Type: "data-question", ID: q.ID, Data: q}}
}
