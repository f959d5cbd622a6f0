// Package transcript is the conversation pane: user messages, the model's text and thinking, calls
// with their results, summaries and remarks.
//
// The one rule: Apply takes events, and Render lays out only the visible entries; a hundred
// thousand rows above cost nothing.
//
// Start reading at Pane.Apply, then list.go (the window) and entry.go (an entry). tail.go serves
// the inline and line-based interfaces, copyable.go the copy command. Known limits: a resumed
// conversation is kept in memory as a whole, without layouts.
package transcript

import (
	"slices"
	"strconv"
	"strings"

	"adze/internal/text/safeterm"
	"adze/session"
	"adze/tool"
	"adze/tui/draw"
	"adze/tui/ui"
)

// Pane is the conversation pane.
type Pane struct {
	list
	draw  *ui.Drawing
	calls map[tool.CallID]*callEntry
	// open is the streaming message's id; pieces are its entries.
	open      string
	pieces    []*proseEntry
	welcome   func(t *draw.Theme, w int) []draw.Row
	seen      int // entry count when the window was last at the end
	turnStart int // index of the current or next turn's first entry
	retried   *noteEntry
}

// New returns an empty conversation; welcome draws it.
func New(d *ui.Drawing, welcome func(t *draw.Theme, w int) []draw.Row) *Pane {
	return &Pane{draw: d, calls: map[tool.CallID]*callEntry{}, list: list{follow: true}, welcome: welcome}
}

// KeepWelcome keeps the welcome above the first entry, so that a user who sends at once sees it.
func (t *Pane) KeepWelcome() { t.head = t.welcome }

// Apply handles an event. It ignores those for other panes.
func (t *Pane) Apply(e session.Event) {
	switch e := e.(type) {
	case session.TextDelta:
		t.piece(e.Message, false).Add(e.Delta)
	case session.ReasoningDelta:
		t.piece(e.Message, true).Add(e.Delta)
	case session.MessageDone:
		t.message(e.Message)
	case session.CallForming:
		t.call(e.Call, e.Name).form(e.Bytes)
	case session.ToolQueued:
		t.call(e.Call, e.Tool).queue(e.Event)
	case session.ToolStart:
		t.call(e.Call, e.Tool).start(e.Event, t.draw.Now())
	case session.ToolUpdate:
		t.call(e.Call, e.Tool).update(e.Event)
	case session.ToolAsk:
		c := t.call(e.Call, e.Tool)
		c.asked = false
		c.approved = c.approved || e.Decision != nil && e.Decision.Asked && e.Decision.Allow
		c.changed()
	case session.ToolEnd:
		t.call(e.Outcome.Call, e.Outcome.Tool).end(e.Outcome)
	case session.Retry:
		t.retry(e)
	case session.Compacted:
		t.add(newSummary(e.Summary, e.Compaction.String()))
	case session.Notice:
		t.notice(e)
	case session.Claimed:
		t.claimed(e)
	case session.PrefixChanged:
		if !e.Change.Expected { // expected changes are in the context pane
			t.note(draw.Warn, "warning: "+e.Change.String())
		}
	case session.TurnEnd:
		t.end(e.Result)
	}
}

// Render draws the window, or the welcome if the conversation is empty.
func (t *Pane) Render(w, h int) []draw.Row {
	if len(t.entries) == 0 {
		rows := t.welcome(t.draw.Theme, w)
		return rows[:min(len(rows), h)]
	}
	rows := t.visible(t.draw, w, h)
	if t.follow {
		t.seen = len(t.entries)
	}
	return rows
}

// All lays out the whole conversation, for a terminal that keeps it after the interface ends.
func (t *Pane) All(w int) []draw.Row {
	var rows []draw.Row
	for i, e := range t.entries {
		if t.gap(t.draw, i) == 1 {
			rows = append(rows, draw.Row{})
		}
		rows = append(rows, e.rows(t.draw, w)...)
		e.forget()
	}
	return rows
}

// Len returns the number of entries; PageRows returns the rows per page.
func (t *Pane) Len() int { return len(t.entries) }

func (t *Pane) PageRows() int { return max(t.h-2, 1) }

// AboveEnd reports whether the window is above the end, and whether there are new entries.
func (t *Pane) AboveEnd() (away, news bool) { return !t.follow, len(t.entries) > t.seen }

// piece returns the entry for a message's piece: the last one if it has the same kind, else a new
// one.
func (t *Pane) piece(message string, reasoning bool) *proseEntry {
	if t.open != message {
		t.open, t.pieces = message, nil
	}
	if n := len(t.pieces); n > 0 {
		if last := t.pieces[n-1]; last.reasoning == reasoning {
			return last
		}
		t.pieces[n-1].finish()
	}
	e := &proseEntry{reasoning: reasoning, message: message}
	if n := len(t.entries); n > 0 && !reasoning {
		before, ok := t.entries[n-1].(*proseEntry)
		e.after = ok && before.reasoning
	}
	t.pieces = append(t.pieces, e)
	t.add(e)
	return e
}

// finish completes the streaming message's entries.
func (t *Pane) finish() {
	for _, p := range t.pieces {
		p.finish()
	}
}

func (e *proseEntry) finish() {
	if !e.done {
		e.done = true
		e.End()
	}
}

// message handles a complete message, which was streamed before or is the only copy.
func (t *Pane) message(m session.Message) {
	switch m.Role {
	case session.User:
		if m.Summary {
			t.add(newSummary(m, "the earlier conversation was summed up"))
			return
		}
		if len(m.Notes) > 0 && m.Notes[0].Kind != session.LoopNote {
			t.note(draw.Dim, m.NoteText())
			return
		}
		if m.Note {
			t.note(draw.Warn, m.NoteText())
			return
		}
		if !m.Meanwhile && m.OwnCall == "" {
			t.turnStart = len(t.entries)
		}
		t.add(&userEntry{message: m.ID, text: safeterm.Clean(strings.TrimSpace(m.Text())), own: m.OwnCall != ""})
		t.ToEnd()
	case session.Assistant:
		t.assistant(m)
	case session.ToolRole:
		t.outcomes(m)
	}
}

func (t *Pane) assistant(m session.Message) {
	t.finish()
	if t.open != m.ID || !t.streamed(m) {
		t.void(m.ID)
		for _, p := range m.Parts {
			if p.Text != "" && (p.Kind == session.TextPart || p.Kind == session.ReasoningPart) {
				t.piece(m.ID, p.Kind == session.ReasoningPart).Add(p.Text)
			}
		}
	}
	t.finish()
	t.open, t.pieces = "", nil
	t.unform(m)
	for _, c := range m.Calls() {
		t.call(c.ID, c.Name) // waiting; the arguments follow after redaction
	}
}

// streamed reports whether the pieces already contain the message's text.
func (t *Pane) streamed(m session.Message) bool {
	n := 0
	for _, p := range t.pieces {
		if !p.reasoning {
			n += p.Len()
		}
	}
	return n == safeterm.Clean(m.Text()).Len()
}

// unform ends streaming call arguments: it keeps the message's calls and drops the others.
func (t *Pane) unform(m session.Message) {
	made := m.Calls()
	for len(t.entries) > 0 {
		e, ok := t.entries[len(t.entries)-1].(*callEntry)
		if !ok || e.forming == 0 || slices.ContainsFunc(made, func(c tool.RawCall) bool { return c.ID == e.id }) {
			break
		}
		t.drop(e)
	}
	for _, c := range made {
		if e, ok := t.calls[c.ID]; ok {
			e.form(0)
		}
	}
}

// drop removes the last entry, a call that was never made.
func (t *Pane) drop(e *callEntry) {
	delete(t.calls, e.id)
	if e.prev != nil {
		e.prev.next = nil
	}
	t.entries = t.entries[:len(t.entries)-1]
	t.layoutRange[0], t.layoutRange[1] = min(t.layoutRange[0], len(t.entries)), min(t.layoutRange[1], len(t.entries))
}

// void removes a message's streamed text.
func (t *Pane) void(message string) {
	if t.open == message && len(t.pieces) > 0 {
		t.entries = slices.DeleteFunc(t.entries, func(e entry) bool {
			p, ok := e.(*proseEntry)
			return ok && slices.Contains(t.pieces, p)
		})
	}
	t.open, t.pieces = message, nil
}

// outcomes ends calls whose end was not seen, as in a resumed session.
func (t *Pane) outcomes(m session.Message) {
	for _, p := range m.Parts {
		if p.Kind == session.OutcomePart && p.Outcome != nil {
			if c := t.call(p.Outcome.Call, p.Outcome.Tool); c.outcome == nil {
				c.end(*p.Outcome)
			}
		}
	}
}

// HasUserMessage reports whether there is a user message to take back.
func (t *Pane) HasUserMessage() bool { return t.lastSaid() >= 0 }

func (t *Pane) lastSaid() int {
	for i := len(t.entries) - 1; i >= 0; i-- {
		if e, ok := t.entries[i].(*userEntry); ok && !e.own {
			return i
		}
	}
	return -1
}

// Rewind removes the last user message and everything after it.
func (t *Pane) Rewind() {
	at := t.lastSaid()
	if at < 0 {
		return
	}
	for _, e := range t.entries[at:] {
		if c, ok := e.(*callEntry); ok {
			delete(t.calls, c.id)
		}
	}
	clear(t.entries[at:])
	t.entries = t.entries[:at]
	t.layoutRange[0], t.layoutRange[1] = min(t.layoutRange[0], at), min(t.layoutRange[1], at)
	t.open, t.pieces = "", nil
	t.seen, t.turnStart = min(t.seen, at), min(t.turnStart, at)
	t.ToEnd()
}

func (t *Pane) call(id tool.CallID, name string) *callEntry {
	if e, ok := t.calls[id]; ok {
		return e
	}
	e := &callEntry{id: id, name: name, ownCommand: session.OwnCall(id)}
	t.calls[id] = e
	if n := len(t.entries); n > 0 {
		if before, ok := t.entries[n-1].(*callEntry); ok {
			e.prev, before.next = before, e
		}
	}
	t.add(e)
	return e
}

// Asks marks a call as waiting for the user's decision.
func (t *Pane) Asks(id tool.CallID) {
	if c, ok := t.calls[id]; ok && c.outcome == nil && !c.started {
		c.asked = true
		c.changed()
	}
}

// Follow shows a subagent's calls in the row of its call.
func (t *Pane) Follow(e session.Event) {
	var of tool.Event
	ended := false
	switch e := e.(type) {
	case session.ToolStart:
		of = e.Event
	case session.ToolUpdate:
		of = e.Event
	case session.ToolEnd:
		o := e.Outcome
		of, ended = tool.Event{Call: o.Call, Parent: e.Parent, Tool: o.Tool, Title: o.Title, Heading: o.Heading, Args: o.Record.Args}, true
	default:
		return
	}
	for parent := string(of.Parent); parent != ""; parent = parent[:max(strings.LastIndexByte(parent, '/'), 0)] { // ids as in session.CallOf
		if c, ok := t.calls[tool.CallID(parent)]; ok {
			if c.outcome == nil {
				c.follow(of.Call, tool.HeadingOr(of.Heading, of.Tool, of.Title, of.Args), ended)
			}
			return
		}
	}
}

func (t *Pane) retry(e session.Retry) {
	t.void(e.Message)
	t.unform(session.Message{})
	if n := len(t.entries); n > 0 && t.entries[n-1] == entry(t.retried) {
		t.retried.replaced = true
		t.retried.forget()
	}
	t.retried = t.note(draw.Warn, "the model request failed: "+e.Cause+"; attempt "+strconv.Itoa(e.Attempt)+" of "+
		strconv.Itoa(e.Of)+" in "+ui.Seconds(e.Delay))
}

// notice shows a notice; its details are in the context pane.
func (t *Pane) notice(e session.Notice) {
	switch e.Kind {
	case session.Warning:
		t.note(draw.Warn, e.Text)
	case session.Remark:
		t.note(draw.Dim, e.Text)
	}
}

func (t *Pane) note(s draw.Style, text string) *noteEntry {
	e := &noteEntry{style: s, lines: safeterm.Clean(strings.TrimSpace(text)).Lines()}
	t.add(e)
	return e
}
