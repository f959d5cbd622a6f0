package pane

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/text/safeterm"
	"adze/session"
	"adze/tool"
	"adze/tui/draw"
	"adze/tui/ui"
)

// Activity shows background work: subagents with their calls, and jobs. The transcript shows the
// conversation's own calls.
type Activity struct {
	draw    *ui.Drawing
	now     func() time.Time
	running []*runningCall // in start order
	jobs    []Job          // background jobs
}

// NewActivity returns an empty pane; now is its clock.
func NewActivity(d *ui.Drawing, now func() time.Time) *Activity {
	return &Activity{draw: d, now: now}
}

type runningCall struct {
	ID        tool.CallID
	Parent    tool.CallID // the call whose subagent made it
	depth     int         // 0 for the main conversation
	Name      string
	Title     string
	since     time.Time
	forming   bool
	delegates bool // it runs a subagent
}

// Apply follows calls from the first byte that the model writes to their end.
func (a *Activity) Apply(e session.Event) {
	switch e := e.(type) {
	case session.CallForming:
		c := a.call(e.Call)
		c.Name, c.forming = e.Name, true
	case session.ToolStart:
		c := a.call(e.Call)
		if c.forming {
			c.since = a.now()
		}
		c.Name, c.Title, c.forming, c.Parent = e.Tool, titleOf(e.Event), false, e.Parent
		for _, of := range a.running {
			of.delegates = of.delegates || e.Parent != "" && of.ID == e.Parent
		}
	case session.ToolUpdate:
		c := a.call(e.Call)
		c.Parent = e.Parent
		c.Name, c.Title = cmp.Or(e.Tool, c.Name), cmp.Or(titleOf(e.Event), c.Title)
	case session.ToolEnd:
		a.drop(func(c *runningCall) bool { return c.ID == e.Outcome.Call || c.within(e.Outcome.Call) })
	case session.MessageDone:
		a.drop(func(c *runningCall) bool { return c.forming })
	case session.Retry:
		a.drop(func(c *runningCall) bool { return c.forming })
	case session.TurnEnd:
		a.Reset()
	}
}

// Reset forgets running calls; in a resumed conversation none of them runs any more.
func (a *Activity) Reset() { a.running = nil }

// Started returns the running calls.
func (a *Activity) Started() []*runningCall {
	return slices.DeleteFunc(a.nested(), func(c *runningCall) bool { return c.forming })
}

// nested returns all calls in start order, each followed by its subagent's calls. It omits calls by
// background subagents, whose parent call has ended.
func (a *Activity) nested() []*runningCall {
	return a.below(make([]*runningCall, 0, len(a.running)), "", 0)
}

func (a *Activity) below(out []*runningCall, parent tool.CallID, depth int) []*runningCall {
	for _, c := range a.running {
		if c.Parent != parent {
			continue
		}
		c.depth, out = depth, append(out, c)
		if c.ID != "" { // an empty ID would match every call without a parent
			out = a.below(out, c.ID, depth+1)
		}
	}
	return out
}

// within reports whether c was made, at any depth, for the given call.
func (c *runningCall) within(call tool.CallID) bool {
	return c.Parent == call || strings.HasPrefix(string(c.Parent), string(session.CallOf(call, "")))
}

// Subagents returns the number of running subagents.
func (a *Activity) Subagents() (n int) {
	for _, c := range a.running {
		if c.delegates {
			n++
		}
	}
	return n
}

func (a *Activity) call(id tool.CallID) *runningCall {
	for _, c := range a.running {
		if c.ID == id {
			return c
		}
	}
	c := &runningCall{ID: id, since: a.now()}
	a.running = append(a.running, c)
	return c
}

func (a *Activity) drop(gone func(*runningCall) bool) { a.running = slices.DeleteFunc(a.running, gone) }

// titleOf returns a one-line title, without the verb if the tool's name is the verb.
func titleOf(e tool.Event) string {
	if e.Heading.Verb != "" {
		return ui.Shorten(e.Heading.String())
	}
	return ui.Shorten(strings.TrimSpace(e.Tool + "  " + e.Title))
}

// visible returns the subagents' calls, each below its parent.
func (a *Activity) visible() []*runningCall {
	return slices.DeleteFunc(a.nested(), func(c *runningCall) bool { return c.Parent == "" && !c.delegates })
}

// Render draws the calls and jobs that fit.
func (a *Activity) Render(w, h int) []draw.Row {
	calls := a.visible()
	if h < 2 || len(calls)+len(a.jobs) == 0 {
		return nil
	}
	rows := []draw.Row{ui.Title(a.draw.Theme, w, a.heading())}
	for i, c := range calls {
		if len(rows) == h {
			break
		}
		if len(rows) == h-1 && i < len(calls)-1 {
			more := fmt.Sprintf("… %d more", len(calls)-i)
			return append(rows, a.draw.Theme.Line(draw.Dim, safeterm.Name(more)))
		}
		rows = append(rows, c.head(a.draw.Theme, w, a.now()))
	}
	return a.background(rows, w, h)
}

func (c *runningCall) head(t *draw.Theme, w int, now time.Time) draw.Row {
	clock := t.Pen().Put(draw.Dim, safeterm.Name(running(max(now.Sub(c.since), 0)))).Done()
	mark := "● "
	if c.Parent != "" {
		mark = strings.Repeat("  ", c.depth) + "↳ "
	}
	p := t.Pen().Fixed(draw.Accent, mark).Put(draw.Plain, safeterm.Name(c.Title))
	row := p.Done().Fit(w - clock.Width() - 2)
	return t.Pen().Row(row).Pad(w - clock.Width()).Row(clock).Done()
}

// running formats a running time in the steps in which it is redrawn.
func running(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d/time.Second))
	}
	return ui.Clock(d)
}
