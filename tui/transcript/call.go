package transcript

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"adze/tool"
	"adze/tui/draw"
	"adze/tui/ui"
)

// liveRows is the output height below a running command, in rows, constant from start to end.
const liveRows = 3

// callEntry is a tool call. It is drawn from the call's heading, metadata and status, without
// knowledge of the tool. A read-only call shares the row of the call before it if both have the
// same verb.
type callEntry struct {
	laidOut
	id            tool.CallID
	name          string
	title         string
	heading       tool.Heading // as far as known
	args          json.RawMessage
	ownCommand    bool // the user's own command, with more output shown
	approved      bool // the user allowed it
	refused       bool // the user denied it
	asked         bool // the user is being asked
	started       bool
	forming       int // argument bytes so far, while the model writes them
	since         time.Time
	counted       string // result shown in the current second
	second        int
	metadata      json.RawMessage
	live          []draw.Row // its last output, laid out for width liveW
	liveW         int
	subagentCalls []*belowCall // its subagent's calls, the newest last
	outcome       *tool.Outcome
	prev, next    *callEntry // adjacent calls
}

// belowCall is a call by a call's subagent.
type belowCall struct {
	id    tool.CallID
	text  string
	ended bool
}

// head returns the call's heading, or a substitute.
func (e *callEntry) head() tool.Heading { return tool.HeadingOr(e.heading, e.name, e.title, e.args) }

// tight places calls directly below each other and below the text before them.
func (e *callEntry) tight() bool { return true }

// quiet reports whether a call is read-only and has not failed: its heading is enough.
func (e *callEntry) quiet() bool {
	if e.heading.Shape != tool.OneRow || e.approved || e.asked || e.forming > 0 {
		return false
	}
	return e.outcome == nil || e.outcome.Status == tool.Completed && len(e.doubts()) == 0 && len(e.outcome.Record.Refused) == 0
}

// joined reports whether the call shares the row of the call before it.
func (e *callEntry) joined() bool {
	return e.prev != nil && e.quiet() && e.prev.quiet() && e.heading.Verb == e.prev.heading.Verb
}

// hidden reports whether the call has no own row: it shares one, or its result is shown elsewhere.
func (e *callEntry) hidden(d *ui.Drawing) bool {
	if d.Expanded {
		return false
	}
	if e.heading.Shape == tool.NoRow {
		return e.outcome == nil || e.outcome.Status == tool.Completed
	}
	return e.joined()
}

// members returns the call and the calls in the same row.
func (e *callEntry) members() []*callEntry {
	out := []*callEntry{e}
	for n := e.next; n != nil && n.joined(); n = n.next {
		out = append(out, n)
	}
	return out
}

// forget drops the layout and the live output.
func (e *callEntry) forget() {
	e.laidOut.forget()
	e.live = nil
}

// changed drops the layouts of the call and its neighbors in a shared row.
func (e *callEntry) changed() {
	for c := e; c != nil; c = c.prev {
		c.forget()
		if c != e && !c.quiet() {
			break
		}
	}
	for c := e.next; c != nil; c = c.next {
		c.forget()
		if !c.quiet() {
			break
		}
	}
}

func (e *callEntry) form(bytes int) {
	e.forget()
	e.forming = bytes
}

func (e *callEntry) take(ev tool.Event) {
	e.name, e.title = cmp.Or(ev.Tool, e.name), cmp.Or(ui.Shorten(ev.Title), e.title)
	if len(ev.Args) > 0 {
		e.args = ev.Args
	}
	if ev.Heading.Verb != "" {
		e.heading = ev.Heading
	}
	if ev.Metadata != nil {
		e.metadata = ev.Metadata
	}
}

func (e *callEntry) queue(ev tool.Event) {
	e.forming = 0
	e.take(ev)
	e.changed()
}

func (e *callEntry) start(ev tool.Event, now time.Time) {
	e.started, e.since, e.forming, e.asked = true, now, 0, false
	e.take(ev)
	e.changed()
}

func (e *callEntry) update(ev tool.Event) {
	e.take(ev)
	e.forget()
}

func (e *callEntry) end(o tool.Outcome) {
	e.name, e.title = cmp.Or(o.Tool, e.name), cmp.Or(ui.Shorten(o.Title), e.title)
	if len(e.args) == 0 {
		e.args = o.Record.Args // a stored call's start was not seen
	}
	if o.Heading.Verb != "" {
		e.heading = o.Heading
	}
	if o.Metadata != nil {
		e.metadata = o.Metadata
	}
	e.refused = slices.ContainsFunc(o.Record.Decisions, func(d tool.Decision) bool { return d.Asked && !d.Allow })
	o.Metadata, o.Attachments = nil, nil // metadata is already stored; pictures are not drawn
	e.outcome, e.subagentCalls, e.forming, e.asked = &o, nil, 0, false
	e.changed()
}

// keepBelow limits the stored subagent calls.
const keepBelow = 2 * liveRows

// follow shows a call by the call's subagent.
func (e *callEntry) follow(id tool.CallID, h tool.Heading, ended bool) {
	e.live = nil
	at := slices.IndexFunc(e.subagentCalls, func(c *belowCall) bool { return c.id == id })
	if at < 0 {
		e.subagentCalls = append(e.subagentCalls[max(0, len(e.subagentCalls)-keepBelow+1):], &belowCall{id: id})
		at = len(e.subagentCalls) - 1
	}
	e.subagentCalls[at].text, e.subagentCalls[at].ended = h.String(), ended
}

func (e *callEntry) rows(d *ui.Drawing, w int) []draw.Row {
	switch {
	case e.hidden(d):
		return nil
	case e.outcome == nil && !e.quiet():
		return append([]draw.Row{e.row(d, w)}, e.following(d, w)...)
	}
	return e.get(d, w, func() []draw.Row {
		rows := append([]draw.Row{e.row(d, w)}, e.whole(d, w)...)
		if e.outcome == nil {
			return rows
		}
		gutter := d.Theme.Pen().Fixed(draw.Border, "  │ ").Done()
		for _, r := range e.body(d, w-gutter.Width()) {
			rows = append(rows, d.Theme.Pen().Row(gutter).Row(r).Done())
		}
		return rows
	})
}

// doubts returns warnings about the call's arguments: repaired, parsed from text, or not validated
// because the tool has no schema.
func (e *callEntry) doubts() []string {
	if e.outcome == nil {
		return nil
	}
	var marks []string
	switch r := e.outcome.Record; {
	case r.Repair != "" && (&tool.Repair{Kind: r.Repair}).Guessed(): // renamed fields alone need no warning
		marks = append(marks, "mended: "+r.Repair)
	case r.Origin == tool.FromText:
		marks = append(marks, "from text")
	}
	// A call rejected as invalid has its own error; a record without a digest never ran.
	if r := e.outcome.Record; !r.Validated && r.Digest != "" && e.outcome.Status != tool.Invalid {
		marks = append(marks, "unchecked")
	}
	return marks
}
