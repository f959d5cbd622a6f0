package live

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"adze/session"
	"adze/tool"
)

// item is a line for watchers, all of whom share its bytes.
type item struct {
	line []byte
	// piece is what line lacks where the line tells a piece of a message: pieces that wait one behind
	// the other are written as one.
	piece
	// identity names what of the log the line tells; it is told once. until names what of the log
	// makes it needless. Both may be empty.
	identity, until string
	position        int64
	state           bool // only the newest of these counts
	update          bool // may wait for more, as a state and a piece may
}

// piece is a part of a stream.
type piece struct {
	of   *partial // if nil, it is none
	from int
	text []byte // encoded
	told int    // events
}

// longestPiece bounds the pieces that are joined, in bytes.
const longestPiece = 64 << 10

// join has a piece hold the next one, too; if false, that is not what comes behind it. The caller
// holds the owner's lock.
func (p *piece) join(next piece) bool {
	if p.of == nil || p.of != next.of || p.from+len(p.text) != next.from || len(p.text)+len(next.text) > longestPiece {
		return false
	}
	to := next.from + len(next.text)
	p.text, p.told = p.of.text[p.from:to:to], p.told+next.told
	return true
}

// partial is what has arrived of a message: its text or its reasoning. Bytes that are there never
// change.
type partial struct {
	head  []byte // of a line
	until string
	text  []byte // encoded
}

// tailOfPiece ends the line of a piece.
const tailOfPiece = "\"}\n"

// add adds to the text.
func (s *partial) add(encoded []byte) item {
	from := len(s.text)
	s.text = append(s.text, encoded...)
	return s.since(from)
}

// since is a line of the text behind a number of bytes.
func (s *partial) since(from int) item {
	to := len(s.text)
	return item{line: s.head, until: s.until, piece: piece{of: s, from: from, text: s.text[from:to:to], told: 1}}
}

// appendTo writes the line.
func (i item) appendTo(buf []byte) []byte {
	buf = append(buf, i.line...)
	if i.of != nil {
		buf = append(append(buf, i.text...), tailOfPiece...)
	}
	return buf
}

// size is how many bytes the line has.
func (i item) size() int { return len(i.line) + len(i.text) }

// events is how many events the line tells.
func (i item) events() int { return max(i.told, 1) }

// waits reports that nobody minds when the line is written some milliseconds later.
func (i item) waits() bool { return i.of != nil || i.state || i.update }

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

	now     string     // the identity of the event that is printed
	streams []*partial // of the message that arrives
	shown   []drawn
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
	n.message, n.streams = message, nil
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
func (n *news) forget() { n.streams, n.shown = nil, nil }

// lines are the news as lines.
func (n *news) lines() (out []item) {
	for _, s := range n.streams {
		out = append(out, s.since(0))
	}
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
	switch kindOf(line) {
	case "mode", "model": // it stands before the line that the identity is of
		i.identity = ""
	case "text", "reasoning":
		return n.arrived(i)
	case "tool_update":
		var l struct {
			Call tool.CallID `json:"call"`
		}
		if json.Unmarshal(line, &l) == nil {
			i.until, i.update = "end:"+string(l.Call), true
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

// arrived makes an item of a line with a piece of a message. The piece is not decoded: encoded
// texts one behind the other are the encoded whole.
func (n *news) arrived(i item) item {
	before, _, is := bytes.Cut(i.line, []byte(`,"delta":"`))
	text, ends := bytes.CutSuffix(i.line, []byte(tailOfPiece))
	if !is || !ends {
		return i
	}
	head, text := text[:len(before)+len(`,"delta":"`)], text[len(before)+len(`,"delta":"`):]
	for _, s := range n.streams {
		if bytes.Equal(s.head, head) {
			return s.add(text)
		}
	}
	var l struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(i.line, &l) != nil {
		return i
	}
	if i.until = "message:" + l.Message; l.Message != n.message {
		return i // nothing comes behind it
	}
	s := &partial{head: head, until: i.until}
	n.streams = append(n.streams, s)
	slices.SortStableFunc(n.streams, func(a, b *partial) int { return bytes.Compare(a.head, b.head) }) // reasoning is first
	return s.add(text)
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
