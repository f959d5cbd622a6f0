package live

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"adze/session"
	"adze/tool"
)

// item is a line for watchers.
type item struct {
	line []byte
	// identity names what of the log the line tells; it is told once. until names what of the log
	// makes it needless. Both may be empty.
	identity, until string
	position        int64
	state           bool // only the newest of these counts
}

// identity names the entry of the log that an event tells of; if empty, it is none that could be
// told twice.
func identity(e session.Event) string {
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

// asked is a question that waits.
type asked struct {
	name  string
	line  []byte
	about string // in a few words
}

// about says in a few words what a question is about.
func about(q Question) string {
	text := q.Title
	switch {
	case len(q.Needs) > 0:
		text = q.Name + " " + q.Needs[0].Target
	case text == "":
		text = q.Text
	}
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return text
}

// news is what happens and is in no log yet: the message that arrives, what running calls showed
// last, and questions. It is known as events, and, while somebody looks, as lines.
type news struct {
	message         string // that arrives
	text, reasoning strings.Builder
	updates         []session.ToolUpdate // the newest of each running call
	questions       []asked

	now   string // the identity of the event that is printed
	texts []item // of the message that arrives
	shown []drawn
}

// drawn is what was told last of a running call.
type drawn struct {
	call         tool.CallID
	view, update item
}

// add follows an event.
func (n *news) add(e session.Event) {
	switch e := e.(type) {
	case session.TextDelta:
		n.arrives(e.Message)
		n.text.WriteString(e.Delta)
	case session.ReasoningDelta:
		n.arrives(e.Message)
		n.reasoning.WriteString(e.Delta)
	case session.MessageDone:
		if e.Message.ID == n.message {
			n.arrives("")
		}
	case session.Retry:
		n.arrives("") // it comes anew
	case session.ToolUpdate:
		n.updates = append(without(n.updates, e.Call), e)
	case session.ToolEnd:
		n.updates = without(n.updates, e.Outcome.Call)
		n.shown = slices.DeleteFunc(n.shown, func(d drawn) bool { return d.call == e.Outcome.Call })
	case session.TurnEnd:
		n.arrives("")
		n.updates, n.shown = nil, nil
	}
}

func without(all []session.ToolUpdate, call tool.CallID) []session.ToolUpdate {
	return slices.DeleteFunc(all, func(u session.ToolUpdate) bool { return u.Call == call })
}

// arrives begins with another message; if empty, none arrives.
func (n *news) arrives(message string) {
	if n.message == message {
		return
	}
	n.message, n.texts = message, nil
	n.text.Reset()
	n.reasoning.Reset()
}

// events are the news for a printer that has seen nothing yet.
func (n *news) events() (out []session.Event) {
	if t := n.reasoning.String(); t != "" {
		out = append(out, session.ReasoningDelta{Message: n.message, Delta: t})
	}
	if t := n.text.String(); t != "" {
		out = append(out, session.TextDelta{Message: n.message, Delta: t})
	}
	for _, u := range n.updates {
		out = append(out, u)
	}
	return out
}

// forget drops the lines.
func (n *news) forget() { n.texts, n.shown = nil, nil }

// lines are the news as lines.
func (n *news) lines() []item {
	out := slices.Clone(n.texts)
	for _, d := range n.shown {
		for _, i := range []item{d.view, d.update} {
			if i.line != nil {
				out = append(out, i)
			}
		}
	}
	return out
}

// item makes one of a printed line, and keeps what of it the log does not hold yet.
func (n *news) item(line []byte) item {
	i := item{line: line, identity: n.now}
	var l struct {
		Message string      `json:"message"`
		Delta   string      `json:"delta"`
		Call    tool.CallID `json:"call"`
		Type    string      `json:"type"`
	}
	switch kind := kindOf(line); kind {
	case "text", "reasoning":
		if json.Unmarshal(line, &l) == nil {
			i.until = "message:" + l.Message
			n.grow(i, kind, l.Message, l.Delta)
		}
	case "tool_update":
		if json.Unmarshal(line, &l) == nil {
			i.until = "end:" + string(l.Call)
			n.of(l.Call).update = i
		}
	}
	return i
}

// kindOf is the type of a line that a printer wrote, where it stands first.
func kindOf(line []byte) string {
	rest, ok := bytes.CutPrefix(line, []byte(`{"type":"`))
	if !ok {
		return ""
	}
	kind, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(kind)
}

// pieces is how many lines of one message are kept apart. Joining them costs as much as all of
// them.
const pieces = 64

// grow adds to the message that arrives.
func (n *news) grow(i item, kind, message, delta string) {
	if message != n.message {
		return
	}
	n.texts = append(n.texts, i)
	if len(n.texts) < pieces {
		return
	}
	joined := map[string]*strings.Builder{"text": {}, "reasoning": {}}
	for _, t := range n.texts {
		var l struct{ Delta string }
		if json.Unmarshal(t.line, &l) == nil {
			joined[kindOf(t.line)].WriteString(l.Delta)
		}
	}
	n.texts = n.texts[:0:0]
	for _, kind := range []string{"reasoning", "text"} {
		if text := joined[kind].String(); text != "" {
			n.texts = append(n.texts, item{until: i.until, line: encode(struct {
				Type    string `json:"type"`
				Message string `json:"message"`
				Delta   string `json:"delta"`
			}{kind, message, text})})
		}
	}
}

// of is what was told of a call.
func (n *news) of(call tool.CallID) *drawn {
	for i := range n.shown {
		if n.shown[i].call == call {
			return &n.shown[i]
		}
	}
	n.shown = append(n.shown, drawn{call: call})
	return &n.shown[len(n.shown)-1]
}

// drew keeps what was drawn of a call that runs.
func (n *news) drew(call tool.CallID, i item) {
	if slices.ContainsFunc(n.updates, func(u session.ToolUpdate) bool { return u.Call == call }) {
		n.of(call).view = i
	}
}

// splitter hands over whole lines.
type splitter struct {
	to   func(line []byte)
	rest []byte
}

func (s *splitter) Write(p []byte) (int, error) {
	s.rest = append(s.rest, p...)
	for {
		end := bytes.IndexByte(s.rest, '\n')
		if end < 0 {
			return len(p), nil
		}
		s.to(bytes.Clone(s.rest[:end+1]))
		s.rest = append(s.rest[:0], s.rest[end+1:]...)
	}
}
