package pane

import (
	"cmp"
	"encoding/json"
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

// ShowAfter is how long a call runs before it gets a place of its own: most calls are over before,
// and a pane that opens and closes for each of them would make the screen jump.
const ShowAfter = 300 * time.Millisecond

// tailRows is how much of a running call's newest metadata is shown.
const tailRows = 3

// Activity is the pane of what runs now: calls with clock, title and live tail. Below a call that
// started a subagent stand the calls of that one.
type Activity struct {
	draw    *ui.Drawing
	now     func() time.Time
	running []*runningCall // in the order of their start
	waiting map[tool.CallID]bool
	jobs    []Job // that run in the background
}

// NewActivity is a pane in which nothing runs; now is its clock.
func NewActivity(d *ui.Drawing, now func() time.Time) *Activity {
	return &Activity{draw: d, now: now}
}

type runningCall struct {
	ID       tool.CallID
	Parent   tool.CallID // whose subagent makes it
	depth    int         // 0: the main conversation makes it
	Name     string
	Title    string
	since    time.Time
	bytes    int // of arguments, while the model writes them
	forming  bool
	metadata json.RawMessage
	tail     []draw.Row // of metadata, for width w
	w        int
}

// Apply follows calls from the model's first word of them to their end.
func (a *Activity) Apply(e session.Event) {
	switch e := e.(type) {
	case session.CallForming:
		c := a.call(e.Call)
		c.Name, c.bytes, c.forming = e.Name, e.Bytes, true
	case session.ToolStart:
		delete(a.waiting, e.Call)
		c := a.call(e.Call)
		if c.forming {
			c.since = a.now()
		}
		c.Name, c.Title, c.forming, c.Parent = e.Tool, ui.Shorten(e.Title), false, e.Parent
	case session.ToolUpdate:
		c := a.call(e.Call)
		c.Parent = e.Parent
		c.Name, c.Title = cmp.Or(e.Tool, c.Name), cmp.Or(ui.Shorten(e.Title), c.Title)
		c.metadata, c.tail = e.Metadata, nil
	case session.ToolEnd:
		delete(a.waiting, e.Outcome.Call)
		a.drop(func(c *runningCall) bool { return c.ID == e.Outcome.Call || c.within(e.Outcome.Call) })
	case session.MessageDone:
		a.drop(func(c *runningCall) bool { return c.forming })
		a.wait(e.Message)
	case session.Retry:
		a.drop(func(c *runningCall) bool { return c.forming })
	case session.TurnEnd:
		a.Reset()
	}
}

// Reset forgets what runs: a resumed conversation has calls that nobody makes any more.
func (a *Activity) Reset() { a.running, a.waiting = nil, nil }

// Forget drops what was laid out, in another theme.
func (a *Activity) Forget() {
	for _, c := range a.running {
		c.tail = nil
	}
}

// wait remembers the calls of a message until they start.
func (a *Activity) wait(m session.Message) {
	for _, c := range m.Calls() {
		if a.waiting == nil {
			a.waiting = map[tool.CallID]bool{}
		}
		a.waiting[c.ID] = true
	}
}

// Started are the calls that run.
func (a *Activity) Started() []*runningCall {
	return slices.DeleteFunc(a.nested(), func(c *runningCall) bool { return c.forming })
}

// nested are all calls in the order of their start, each with those of its subagent behind it. What
// a subagent in the background calls is not among them: the call that started it has ended.
func (a *Activity) nested() []*runningCall {
	return a.below(make([]*runningCall, 0, len(a.running)), "", 0)
}

func (a *Activity) below(out []*runningCall, parent tool.CallID, depth int) []*runningCall {
	for _, c := range a.running {
		if c.Parent != parent {
			continue
		}
		c.depth, out = depth, append(out, c)
		if c.ID != "" { // a stranger's: those without a parent are not below it
			out = a.below(out, c.ID, depth+1)
		}
	}
	return out
}

// within reports whether a call is made, at whatever depth, for the one that started its subagent.
func (c *runningCall) within(call tool.CallID) bool {
	return c.Parent == call || strings.HasPrefix(string(c.Parent), string(session.CallOf(call, "")))
}

// own counts the calls of the conversation itself.
func (a *Activity) own() (n int) {
	for _, c := range a.running {
		if c.Parent == "" {
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

// visible are the calls that run long enough to be shown.
func (a *Activity) visible() []*runningCall {
	var out []*runningCall
	for _, c := range a.nested() {
		if a.now().Sub(c.since) >= ShowAfter {
			out = append(out, c)
		}
	}
	return out
}

// Want is how many rows the pane would like.
func (a *Activity) Want(w int) int {
	n := 0
	for _, c := range a.visible() {
		n += 1 + len(c.rows(a.draw, w))
	}
	if n += len(a.jobs); n > 0 {
		n++
	}
	return n
}

// Render draws as many calls as fit; each gets its first row before any gets a tail.
func (a *Activity) Render(w, h int) []draw.Row {
	calls := a.visible()
	if h < 2 || len(calls)+len(a.jobs) == 0 {
		return nil
	}
	rows := []draw.Row{ui.Title(a.draw.Theme, w, a.heading())}
	spare := h - 1 - len(calls) - len(a.jobs)
	for i, c := range calls {
		if len(rows) == h {
			break
		}
		if len(rows) == h-1 && i < len(calls)-1 {
			more := fmt.Sprintf("… %d more", len(calls)-i)
			return append(rows, a.draw.Theme.Line(draw.Dim, safeterm.Name(more)))
		}
		rows = append(rows, c.head(a.draw.Theme, w, a.now()))
		tail := c.rows(a.draw, w)
		tail = tail[max(len(tail)-max(spare, 0), 0):]
		spare -= len(tail)
		rows = append(rows, tail...)
	}
	return a.background(rows, w, h)
}

func (c *runningCall) head(t *draw.Theme, w int, now time.Time) draw.Row {
	clock := t.Pen().Put(draw.Dim, safeterm.Name(running(max(now.Sub(c.since), 0)))).Done()
	mark := "● "
	if c.Parent != "" {
		mark = strings.Repeat("  ", c.depth) + "↳ "
	}
	p := t.Pen().Fixed(draw.Accent, mark).Put(draw.Bold, safeterm.Name(c.Name)).Fixed(draw.Plain, "  ")
	if c.forming {
		p.Put(draw.Dim, safeterm.Name(fmt.Sprintf("being written, %s", ui.Size(c.bytes))))
	} else {
		p.Put(draw.Plain, safeterm.Name(c.Title))
	}
	row := p.Done().Fit(w - clock.Width() - 2)
	return t.Pen().Row(row).Pad(w - clock.Width()).Row(clock).Done()
}

// running writes how long something runs already, in steps of the clock that redraws it.
func running(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d/time.Second))
	}
	return ui.Clock(d)
}

// rows is the end of what the newest metadata shows.
func (c *runningCall) rows(d *ui.Drawing, w int) []draw.Row {
	if c.metadata == nil {
		return nil
	}
	if c.tail == nil || c.w != w {
		gutter := d.Theme.Pen().Fixed(draw.Border, "  │ ").Done()
		if c.Parent != "" {
			gutter = d.Theme.Pen().Fixed(draw.Border, strings.Repeat("  ", c.depth)+"  │ ").Done()
		}
		own := d.Theme.Blocks(nil, d.Blocks(c.Name, c.metadata), w-gutter.Width(), draw.Show{Rows: 4 * tailRows})
		own = own[max(len(own)-tailRows, 0):]
		c.tail, c.w = []draw.Row{}, w
		for _, r := range own {
			c.tail = append(c.tail, d.Theme.Pen().Row(gutter).Row(r).Done())
		}
	}
	return c.tail
}
