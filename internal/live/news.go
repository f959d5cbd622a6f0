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

// gathering is how long pieces of a message, and the progress of calls, gather before they are
// written: a client of an answer that comes in thousands of pieces is written to a hundred times a
// second.
const gathering = 10 * time.Millisecond

// item is a line for watchers, all of whom share its bytes.
type item struct {
	kind kind
	line []byte
	// identity names what of the log the line tells; it is told once. until names what of the log
	// makes it needless. Both may be empty.
	identity, until string
	position        int64 // in the log
}

// kind says what becomes of a line for which there is no room.
type kind int

const (
	eventItem kind = iota // it is dropped, and counted
	stateItem             // only the newest counts
	replyItem             // it stays
)

// news is what happens and is in no log yet: the message that arrives and the progress of calls
// that run. Nothing is encoded while nobody looks. The owner's lock guards it.
type news struct {
	owner   *Owner
	printer *stream.Printer // if nil, nobody has looked since the last turn
	message string          // that arrives
	pending []session.Event // pieces and progress that were not printed yet
	lines   []item          // what was printed
	waits   bool            // a timer prints what is pending

	identity, until string // of the event that is printed
	position        int64  // in the log, at the newest event that stands there
}

// maxJoined bounds, in bytes, a piece of a message that others are joined to.
const maxJoined = 4 << 10

// Join returns one event for two that follow each other, where nothing is lost by it: a longer
// piece of a message, or the newest progress of a call.
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

// add follows an event.
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

// piece gathers a piece of the message that arrives.
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

// drop forgets the progress of a call that was not printed.
func (n *news) drop(call tool.CallID) {
	n.pending = slices.DeleteFunc(n.pending, func(e session.Event) bool {
		u, is := e.(session.ToolUpdate)
		return is && u.Call == call
	})
}

// schedule prints what is pending after a while, where somebody looks.
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

// flush prints what is pending, unless nobody looks.
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

// forget drops what the log holds, or what holds no more, after an event.
func (n *news) forget(e session.Event) {
	switch e := e.(type) {
	case session.MessageDone:
		n.void(e.Message.ID)
	case session.Retry:
		n.void(n.message) // it comes anew
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

// void drops the message that arrives, if it is this one.
func (n *news) void(message string) {
	if n.message == message {
		n.message, n.pending, n.lines = "", slices.DeleteFunc(n.pending, isPiece), without(n.lines, "message:"+message)
	}
}

// unlogged are the lines for a watcher that has seen nothing yet of what is in no log.
func (n *news) unlogged() []item {
	if n.printer == nil {
		n.lines = nil
		n.printer = &stream.Printer{Out: &splitter{to: n.printed}, Format: stream.StreamJSON, Mask: n.owner.config.Mask, Prompts: true, Mode: n.owner.config.Mode}
	}
	n.flush()
	return n.lines
}

// print shows all watchers an event. The blocks of a call come before the call's own line.
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

// printed takes a line of the printer.
func (n *news) printed(line []byte) {
	switch kindOf(line) {
	case "mode", "model": // it stands before the line that the identity is of
		n.show(line, "", "")
	case "text", "reasoning":
		var of struct{ Message string }
		_ = json.Unmarshal(line, &of) // the printer wrote it
		n.show(line, "", "message:"+of.Message)
	default:
		n.show(line, n.identity, n.until)
	}
}

// show hands a line to the watchers, and keeps it while the log does not hold what it tells.
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

// kindOf is the type of a line that a printer wrote, where it stands first.
func kindOf(line []byte) string {
	rest, ok := bytes.CutPrefix(line, []byte(`{"type":"`))
	if !ok {
		return ""
	}
	kind, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(kind)
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
