package transcript

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/text/safeterm"
	"adze/tool"
	"adze/tui/draw"
	"adze/tui/ui"
)

// bodyRows is how much of a block is shown before a key expands it.
const bodyRows = 8

// callEntry is a tool call. What it shows comes from the call's title, metadata and status; it
// knows no tool.
type callEntry struct {
	laidOut
	id       tool.CallID
	name     string
	args     string // short, redacted
	title    string
	approved bool // a user said yes
	started  bool
	metadata json.RawMessage
	outcome  *tool.Outcome
}

// tight has calls of one row stand together; one that shows something stands apart.
func (e *callEntry) tight() bool {
	return e.outcome == nil || e.outcome.Status == tool.Completed && e.metadata == nil
}

func (e *callEntry) queue(ev tool.Event) {
	e.forget()
	e.args = shortArgs(ev.Args)
}

func (e *callEntry) start(ev tool.Event) {
	e.forget()
	e.started = true
	e.args = cmp.Or(shortArgs(ev.Args), e.args)
	e.title = cmp.Or(ui.Shorten(ev.Title), e.title)
	if ev.Tool != "" {
		e.name = ev.Tool
	}
}

func (e *callEntry) update(ev tool.Event) {
	e.forget()
	e.title = cmp.Or(ui.Shorten(ev.Title), e.title)
	if ev.Metadata != nil {
		e.metadata = ev.Metadata
	}
}

func (e *callEntry) end(o tool.Outcome) {
	e.forget()
	e.name, e.title = cmp.Or(o.Tool, e.name), cmp.Or(ui.Shorten(o.Title), e.title)
	e.args = cmp.Or(e.args, shortArgs(o.Record.Args)) // of a stored call its start was not seen
	if o.Metadata != nil {
		e.metadata = o.Metadata
	}
	o.Metadata, o.Attachments = nil, nil // kept once; pictures are not drawn
	e.outcome = &o
}

func (e *callEntry) rows(d *ui.Drawing, w int) []draw.Row {
	return e.get(d, w, func() []draw.Row {
		rows := []draw.Row{e.head(d.Theme, w)}
		if e.outcome == nil {
			return rows // what runs is shown live in the activity pane
		}
		gutter := d.Theme.Pen().Fixed(draw.Border, "  │ ").Done()
		for _, r := range e.body(d, w-gutter.Width()) {
			rows = append(rows, d.Theme.Pen().Row(gutter).Row(r).Done())
		}
		return rows
	})
}

// head is the call's first row: state, tool, title; status and duration at the right.
func (e *callEntry) head(t *draw.Theme, w int) draw.Row {
	mark, style := e.mark()
	tail := t.Pen().Put(draw.Dim, safeterm.Name(e.tail())).Done()
	p := t.Pen().Fixed(style, mark+" ").Put(draw.Bold, safeterm.Name(e.name))
	if text := cmp.Or(e.title, e.args); text != "" {
		p.Fixed(draw.Plain, "  ").Put(draw.Plain, safeterm.Name(text))
	}
	if tail.Width() == 0 {
		return p.Done().Fit(w)
	}
	row := p.Done().Fit(w - tail.Width() - 2)
	return t.Pen().Row(row).Pad(w - tail.Width()).Row(tail).Done()
}

func (e *callEntry) mark() (string, draw.Style) {
	switch {
	case e.outcome == nil && !e.started:
		return "○", draw.Dim
	case e.outcome == nil:
		return "●", draw.Accent
	}
	switch e.outcome.Status {
	case tool.Completed:
		return "✓", draw.Good
	case tool.Denied, tool.Aborted:
		return "⊘", draw.Warn
	}
	return "✗", draw.Bad
}

// doubts marks what the user should know about how the call came to its arguments: they were
// mended, were taken out of text, or were never checked because the tool has no schema.
func (e *callEntry) doubts() []string {
	if e.outcome == nil {
		return nil
	}
	var marks []string
	switch r := e.outcome.Record; {
	case r.Repair != "" && (&tool.Repair{Kind: r.Repair}).Guessed(): // other names alone are no reason to look
		marks = append(marks, "mended: "+r.Repair)
	case r.Origin == tool.FromText:
		marks = append(marks, "from text")
	}
	// A call that was refused as invalid says so already; a record that names no definition never
	// ran.
	if r := e.outcome.Record; !r.Validated && r.Digest != "" && e.outcome.Status != tool.Invalid {
		marks = append(marks, "unchecked")
	}
	return marks
}

// tail says at the right what the mark does not.
func (e *callEntry) tail() string {
	var parts []string
	if e.approved {
		parts = append(parts, "allowed by you")
	}
	parts = append(parts, e.doubts()...)
	switch o := e.outcome; {
	case o == nil && e.started:
		parts = append(parts, "running")
	case o == nil:
		parts = append(parts, "needs your OK")
	default:
		if o.Status != tool.Completed {
			parts = append(parts, string(o.Status))
		}
		if o.Code != "" && o.Code != string(o.Status) {
			parts = append(parts, o.Code)
		}
		if n := len(o.Record.Refused); n > 0 {
			parts = append(parts, fmt.Sprintf("%d refused", n))
		}
		if o.Duration >= 100*time.Millisecond {
			parts = append(parts, ui.Seconds(o.Duration))
		}
	}
	return strings.Join(parts, " · ")
}

// body draws the metadata; a call that did not succeed and shows nothing says why.
func (e *callEntry) body(d *ui.Drawing, w int) []draw.Row {
	show := draw.Show{Rows: bodyRows}
	if d.Expanded {
		show = draw.Show{Whole: true}
	}
	var rows []draw.Row
	if e.metadata != nil {
		rows = d.Theme.Blocks(nil, d.Blocks(e.name, e.metadata), w, show)
	}
	if e.outcome.Status != tool.Completed && len(rows) == 0 {
		rows = d.Theme.Block(rows, tool.Block{Text: e.outcome.Output}, w, show)
	}
	return rows
}

// shortArgs is one line of a call's redacted arguments, for calls that have no title yet: what the
// model says it is for and where it is come first, as they are; the rest has its names.
func shortArgs(raw json.RawMessage) string {
	var args map[string]any
	if json.Unmarshal(raw, &args) != nil {
		return ""
	}
	var first, rest []string
	for _, name := range []string{"description", "path", "workdir"} {
		if text, ok := args[name].(string); ok && text != "" {
			first = append(first, text)
			delete(args, name)
		}
	}
	for name, v := range args {
		rest = append(rest, fmt.Sprintf("%s: %v", name, v))
	}
	slices.Sort(rest)
	if len(rest) > 0 {
		first = append(first, strings.Join(rest, ", "))
	}
	return ui.Shorten(strings.Join(first, " · "))
}
