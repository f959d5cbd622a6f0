package live

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"adze/internal/stream"
	"adze/internal/stream/ask"
	"adze/session"
	"adze/tool"
)

// eventLine is a line of any type that carries an event.
type eventLine struct {
	Type       string             `json:"type"`
	Message    json.RawMessage    `json:"message"`
	Delta      string             `json:"delta"`
	Text       string             `json:"text"`
	Notes      []session.Note     `json:"notes"`
	Call       tool.CallID        `json:"call"`
	Parent     tool.CallID        `json:"parent"`
	Agent      string             `json:"agent"`
	Name       string             `json:"name"`
	Title      string             `json:"title"`
	Args       json.RawMessage    `json:"args"`
	Status     tool.Status        `json:"status"`
	Code       string             `json:"code"`
	Duration   int64              `json:"duration_ms"`
	Output     string             `json:"output"`
	OutputFile string             `json:"output_file"`
	Truncated  bool               `json:"truncated"`
	Blocks     []tool.Block       `json:"blocks"`
	Need       []tool.Need        `json:"need"`
	Decision   *tool.Decision     `json:"decision"`
	Attempt    int                `json:"attempt"`
	Of         int                `json:"of"`
	Delay      int64              `json:"delay_ms"`
	Cause      string             `json:"cause"`
	Claims     []session.Claim    `json:"claims"`
	Evidence   []session.Evidence `json:"evidence"`
	Entries    int                `json:"entries"`
	Bytes      int                `json:"bytes"`
	Hint       string             `json:"hint"`
}

// Events converts one owner's lines to session events. The zero value is ready to use. A call's
// blocks are in its metadata; use Blocks to read them.
type Events struct {
	blocks map[tool.CallID]json.RawMessage // blocks, which precede their call's line
}

// Decode returns a line's events, or nil if it carries none.
func (v *Events) Decode(l Line) []session.Event {
	var t eventLine
	if json.Unmarshal(l.Raw, &t) != nil {
		return nil
	}
	var message string
	_ = json.Unmarshal(t.Message, &message) // an object for other types
	switch t.Type {
	case "text":
		return []session.Event{session.TextDelta{Message: message, Delta: t.Delta}}
	case "reasoning":
		return []session.Event{session.ReasoningDelta{Message: message, Delta: t.Delta}}
	case "message":
		var m session.Message
		if json.Unmarshal(t.Message, &m) == nil {
			return []session.Event{session.MessageDone{Message: m}}
		}
	case "tool_start":
		return []session.Event{session.ToolStart{Event: t.event(tool.Started)}}
	case "tool_update":
		e := t.event(tool.Updated)
		e.Metadata = v.take(t.Call)
		return []session.Event{session.ToolUpdate{Event: e, Redacted: e.Metadata}}
	case "tool_end":
		e := t.end()
		e.Outcome.Metadata = v.take(t.Call)
		e.Redacted = e.Outcome.Metadata
		return []session.Event{e}
	case viewLine:
		v.keep(t)
	case "ask":
		e := t.event(tool.Asked)
		e.Needs, e.Decision = t.Need, t.Decision
		return []session.Event{session.ToolAsk{Event: e}}
	case "retry":
		return []session.Event{session.Retry{Message: message, Attempt: t.Attempt, Of: t.Of, Delay: time.Duration(t.Delay) * time.Millisecond, Cause: t.Cause}}
	case "notice":
		return []session.Event{session.Notice{Text: t.Text}}
	case "note":
		return []session.Event{session.MessageDone{Message: session.Message{ID: message, Role: session.User, Note: true, Notes: t.Notes, Parts: []session.Part{{Kind: session.TextPart, Text: t.Text}}}}}
	case "claim":
		return []session.Event{session.Claimed{Claims: t.Claims, Evidence: t.Evidence}}
	case "unsaved":
		return []session.Event{session.Unsaved{Entries: t.Entries, Bytes: t.Bytes, Cause: t.Cause}}
	case "turn":
		return []session.Event{session.TurnEnd{Result: session.Result{Cause: session.Cause(t.Cause), Message: message, Hint: t.Hint, Text: t.Text}}}
	}
	return nil
}

func (v *Events) keep(t eventLine) {
	metadata, err := json.Marshal(t.Blocks)
	if err != nil {
		return // blocks always encode
	}
	if v.blocks == nil {
		v.blocks = map[tool.CallID]json.RawMessage{}
	}
	v.blocks[t.Call] = metadata
}

func (v *Events) take(call tool.CallID) json.RawMessage {
	metadata := v.blocks[call]
	delete(v.blocks, call)
	return metadata
}

func (t eventLine) event(kind tool.EventKind) tool.Event {
	return tool.Event{Kind: kind, Call: t.Call, Parent: t.Parent, Agent: t.Agent, Tool: t.Name, Title: t.Title, Args: t.Args}
}

func (t eventLine) end() session.ToolEnd {
	return session.ToolEnd{Parent: t.Parent, Agent: t.Agent, Outcome: tool.Outcome{
		Call: t.Call, Tool: t.Name, Status: t.Status, Code: t.Code, Title: t.Title, Output: t.Output, OutputFile: t.OutputFile,
		Truncated: t.Truncated, Duration: time.Duration(t.Duration) * time.Millisecond,
	}}
}

// Blocks returns a call's blocks from metadata made by Events.
func Blocks(_ string, metadata json.RawMessage) []tool.Block {
	var out []tool.Block
	if json.Unmarshal(metadata, &out) != nil {
		return nil // a call without blocks
	}
	return out
}

// Identity identifies the log entry of an event, so a reconnecting client shows it once. It is
// empty for events that cannot come twice.
func Identity(e session.Event) string {
	switch e := e.(type) {
	case session.MessageDone:
		return "message:" + e.Message.ID
	case session.ToolStart:
		return "start:" + string(e.Call)
	case session.ToolEnd:
		return "end:" + string(e.Outcome.Call)
	}
	return ""
}

// A Question is a question from the owner.
type Question = stream.Question

// A Settled is an answered or withdrawn question. By is the client that answered, if any.
type QuestionClosed struct {
	Question string `json:"question"`
	Client   string `json:"by"`
}

// Permission returns a permission question for an interface, or false for other questions. The
// owner checks the answer, and runs the call without rejected hunks.
func Permission(q Question) (a ask.Permission, is bool) {
	if q.Kind != "permission" {
		return a, false
	}
	a = ask.Permission{Why: q.Text, Preview: q.Preview, Problem: q.Problem, Resolved: map[tool.Need]string{},
		Question: tool.Question{Call: q.Call, Agent: q.Agent, Tool: tool.Definition{Name: q.Name}}}
	for _, n := range q.Needs {
		a.Question.Needs = append(a.Question.Needs, n.Need)
		if n.Really != "" {
			a.Resolved[n.Need] = n.Really
		}
	}
	for _, o := range q.Offers {
		a.Offers = append(a.Offers, ask.Offer{Rule: o.Rule, Covers: o.Covers, Spares: o.StillAsked})
	}
	if q.Hunks {
		a.Question.WithoutHunks = func(context.Context, []int, string) (*tool.Change, error) { return nil, nil }
	}
	if q.Editable != "" {
		a.Question.Editing = &tool.Editing{Name: cmp.Or(q.Name, "call"), Text: q.Editable}
	}
	return a, true
}
