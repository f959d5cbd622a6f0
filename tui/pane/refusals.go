package pane

import (
	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/session"
	"adze/tool"
	"adze/tui/draw"
	"adze/tui/ui"
)

// Refusals is the pane of what was refused: calls that were denied, and what the sandbox refused
// commands that ran.
type Refusals struct {
	draw *ui.Drawing
	// delegated are calls whose subagents' calls were seen, and seen those that were listed.
	delegated, seen map[tool.CallID]bool
	calls           []refusedCall
}

type refusedCall struct {
	head   string
	denied string // why the call did not run; if empty, it ran
	list   []tool.Refusal
}

// NewRefusals is a pane without refusals.
func NewRefusals(d *ui.Drawing) *Refusals {
	return &Refusals{draw: d, delegated: map[tool.CallID]bool{}, seen: map[tool.CallID]bool{}}
}

// Apply remembers what was refused.
func (r *Refusals) Apply(e session.Event) {
	switch e := e.(type) {
	case session.ToolEnd:
		call := e.Outcome.Call
		if e.Parent != "" {
			r.delegated[e.Parent] = true
			call = session.CallOf(e.Parent, call)
		}
		if !r.delegated[e.Outcome.Call] {
			r.remember(call, e.Outcome)
		}
	case session.MessageDone:
		for _, p := range e.Message.Parts {
			if p.Outcome != nil {
				r.remember(p.Outcome.Call, *p.Outcome)
			}
		}
	}
}

func (r *Refusals) remember(call tool.CallID, o tool.Outcome) {
	list := o.Record.Refused
	if r.seen[call] || len(list) == 0 && o.Status != tool.Denied {
		return
	}
	r.seen[call] = true
	c := refusedCall{head: o.Headed().String(), list: list}
	if o.Status == tool.Denied {
		c.denied = ui.Shorten(o.Output)
	}
	r.calls = append(r.calls, c)
}

// None says why there is nothing to show. It is empty where there is something.
func (r *Refusals) None() string {
	if len(r.calls) == 0 {
		return "nothing was refused"
	}
	return ""
}

// Heading implements sheet.
func (r *Refusals) Heading() string { return "refused · " + plural.Of(len(r.calls), "call") }

// Sheet implements sheet.
func (r *Refusals) Sheet(w int) (rows []draw.Row, marks []int) {
	t := r.draw.Theme
	indent := t.Line(draw.Plain, safeterm.Fixed("  "))
	add := func(style draw.Style, m draw.Margins, text string) {
		rows = t.Wrap(rows, w, m, draw.Span{Style: style, Text: safeterm.Name(text)})
	}
	below := draw.Margins{First: indent, Rest: indent}
	for _, c := range r.calls {
		marks = append(marks, len(rows))
		add(draw.Bold, draw.Margins{}, c.head)
		if c.denied != "" {
			add(draw.Warn, below, c.denied)
		}
		for _, x := range c.list {
			text := x.Kind + " " + x.Name
			if x.Reason != "" {
				text += ", " + x.Reason
			}
			if x.Hint {
				text += " (a guess from the output)"
			}
			add(draw.Plain, below, text)
		}
	}
	if len(rows) == 0 {
		rows = append(rows, r.draw.Theme.Line(draw.Dim, safeterm.Fixed("nothing was refused")))
	}
	return rows, marks
}
