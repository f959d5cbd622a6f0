package live

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"adze/internal/stream"
	"adze/session"
	"adze/tool"
)

// gathering is how long pieces of a message, and calls' progress, are collected before they are
// written: at most a hundred writes a second for an answer of thousands of pieces.
const gathering = 10 * time.Millisecond

// item is a line for watchers, who share its bytes.
type item struct {
	kind kind
	line []byte
	// identity identifies the line's log entry, so it is sent once. until identifies the log entry
	// that makes the line obsolete. Both may be empty.
	identity, until string
	position        int64 // in the log
}

// kind decides about a line that does not fit into a queue.
type kind int

const (
	eventItem kind = iota // dropped and counted
	stateItem             // only the newest is kept
	replyItem             // kept
)

// news holds the events that are not yet in the log: the incomplete message and running calls'
// progress. Nothing is encoded without watchers. It is guarded by the owner's lock.
type news struct {
	owner   *Owner
	printer *stream.Printer // nil if there were no watchers since the last turn
	message string          // the incomplete one
	pending []session.Event // pieces and progress not yet printed
	lines   []item          // printed
	waits   bool            // a timer will print pending

	identity, until string // of the event being printed
	position        int64  // log position of the newest logged event
}

// maxJoined is the size in bytes up to which further pieces are joined to a piece.
const maxJoined = 4 << 10

// Join merges two successive events if nothing is lost: pieces of a message, or a call's progress,
// of which it keeps the newest.
func Join(a, b session.Event) (joined session.Event, is bool) {
	switch a := a.(type) {
	case session.TextDelta:
		if b, is := b.(session.TextDelta); is && a.Message == b.Message && len(a.Delta) < maxJoined {
			a.Delta += b.Delta
			return a, true
		}
	case session.ReasoningDelta:
		if b, is := b.(session.ReasoningDelta); is && a.Message == b.Message && len(a.Delta) < maxJoined {
			a.Delta += b.Delta
			return a, true
		}
	case session.ToolUpdate:
		b, is := b.(session.ToolUpdate)
		return b, is && a.Call == b.Call
	case session.CallForming:
		b, is := b.(session.CallForming)
		return b, is && a.Call == b.Call
	}
	return nil, false
}

func (n *news) add(e session.Event) {
	switch e := e.(type) {
	case session.TextDelta:
		n.piece(e.Message, e)
		return
	case session.ReasoningDelta:
		n.piece(e.Message, e)
		return
	case session.ToolUpdate:
		n.drop(e.Call)
		n.gather(e)
		return
	}
	if n.printer != nil {
		n.flush()
		if Identity(e) != "" && n.owner.config.Position != nil {
			n.position = n.owner.config.Position()
		}
		n.print(e)
	}
	n.forget(e)
}

// piece collects a piece of the incomplete message.
func (n *news) piece(message string, e session.Event) {
	if n.message != message {
		n.flush()
		n.message, n.pending = message, slices.DeleteFunc(n.pending, isPiece)
	}
	n.gather(e)
}

func (n *news) gather(e session.Event) {
	if last := len(n.pending) - 1; last >= 0 {
		if joined, is := Join(n.pending[last], e); is {
			n.pending[last], e = joined, nil
		}
	}
	if e != nil {
		n.pending = append(n.pending, e)
	}
	n.schedule()
}

func isPiece(e session.Event) bool {
	_, progress := e.(session.ToolUpdate)
	return !progress
}

// drop deletes a call's unprinted progress.
func (n *news) drop(call tool.CallID) {
	n.pending = slices.DeleteFunc(n.pending, func(e session.Event) bool {
		u, is := e.(session.ToolUpdate)
		return is && u.Call == call
	})
}

// schedule prints pending after a delay if there are watchers.
func (n *news) schedule() {
	if n.printer == nil || n.waits || n.owner.watched() == 0 {
		return
	}
	n.waits = true
	n.owner.later(gathering, func() {
		n.owner.mu.Lock()
		defer n.owner.mu.Unlock()
		n.waits = false
		n.flush()
	})
}

// flush prints pending if there are watchers.
func (n *news) flush() {
	if n.printer == nil {
		return
	}
	pending := n.pending
	n.pending = nil
	for _, e := range pending {
		if u, is := e.(session.ToolUpdate); is {
			n.lines = without(n.lines, "end:"+string(u.Call))
		}
		n.print(e)
	}
}

func without(lines []item, until string) []item {
	return slices.DeleteFunc(lines, func(i item) bool { return i.until == until })
}

// forget drops lines an event makes obsolete or moves to the log.
func (n *news) forget(e session.Event) {
	switch e := e.(type) {
	case session.MessageDone:
		n.void(e.Message.ID)
	case session.Retry:
		n.void(n.message) // it will be repeated
	case session.ToolEnd:
		n.drop(e.Outcome.Call)
		n.lines = without(n.lines, "end:"+string(e.Outcome.Call))
	case session.TurnEnd:
		n.message, n.pending, n.lines = "", nil, nil
		if n.owner.watched() == 0 {
			n.printer = nil
		}
	}
}

// void drops the incomplete message if it has this ID.
func (n *news) void(message string) {
	if n.message == message {
		n.message, n.pending, n.lines = "", slices.DeleteFunc(n.pending, isPiece), without(n.lines, "message:"+message)
	}
}

// unlogged returns the lines of unlogged events for a new watcher.
func (n *news) unlogged() []item {
	if n.printer == nil {
		n.lines = nil
		n.printer = &stream.Printer{Out: &splitter{to: n.printed}, Format: stream.StreamJSON, Mask: n.owner.config.Mask, Prompts: true, Mode: n.owner.config.Mode}
	}
	n.flush()
	return n.lines
}

// print shows an event to all watchers. A call's blocks precede its line.
func (n *news) print(e session.Event) {
	if n.owner.config.Redact != nil {
		e = n.owner.config.Redact(e)
	}
	n.identity, n.until = Identity(e), ""
	switch e := e.(type) {
	case session.ToolUpdate:
		n.until = "end:" + string(e.Call)
		n.show(n.owner.view(e.Call, e.Tool, e.Metadata), "", n.until)
	case session.ToolEnd:
		n.show(n.owner.view(e.Outcome.Call, e.Outcome.Tool, e.Outcome.Metadata), "", n.identity)
	}
	n.printer.Observe(e)
	if e, ok := e.(session.TurnEnd); ok {
		n.printer.Turn("", e.Result)
	}
}

// printed receives a line from the printer.
func (n *news) printed(line []byte) {
	switch kindOf(line) {
	case "mode", "model": // it precedes the line with the identity
		n.show(line, "", "")
	case "text", "reasoning":
		var of struct{ Message string }
		_ = json.Unmarshal(line, &of) // the printer wrote it
		n.show(line, "", "message:"+of.Message)
	default:
		n.show(line, n.identity, n.until)
	}
}

// show sends a line to the watchers, and keeps it until the log holds its content.
func (n *news) show(line []byte, identity, until string) {
	if line == nil {
		return
	}
	i := item{line: line, identity: identity, until: until, position: n.position}
	if until != "" {
		n.lines = append(n.lines, i)
	}
	n.owner.spread(i)
}

// kindOf returns a printed line's type, which is its first field.
func kindOf(line []byte) string {
	rest, ok := bytes.CutPrefix(line, []byte(`{"type":"`))
	if !ok {
		return ""
	}
	kind, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(kind)
}

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
