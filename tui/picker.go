package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/internal/safeterm"
	"adze/tui/draw"
)

// picker is the pane in which one of several things is chosen: a session, a model, a mode, a call.
type picker struct {
	theme    *draw.Theme
	open     bool
	title    string
	items    []choice
	words    []string // of items: what the filter looks at, in lower case
	labels   int      // the widest label
	shown    []int    // of items: those that match the filter
	at       int      // in shown
	filter   editor
	narrowed string // the filter that shown is for
	wait     string // why there is nothing yet: it is being looked for, or looking failed
	serial   int    // tells late answers of an earlier opening
	chosen   func(c choice) tea.Cmd
	// copied opens a copy of the choice; nil: there is no such thing.
	copied func(c choice) tea.Cmd
	// free makes a choice of what was typed and is in no list; nil: only what is listed can be chosen.
	free  func(text string) (choice, bool)
	freed bool // the last item was made so
	peek  *peek
}

func newPicker(t *draw.Theme) *picker { return &picker{theme: t} }

// begin opens the picker; items may come later by fill.
func (p *picker) begin(title string, items []choice, chosen func(choice) tea.Cmd) {
	p.peek.drop()
	*p = picker{theme: p.theme, open: true, title: title, chosen: chosen, serial: p.serial + 1}
	p.add(items)
	p.narrow()
}

// fill adds what was looked up; what the person chose meanwhile stays chosen.
func (p *picker) fill(items []choice, err error) {
	p.wait = ""
	if err != nil {
		p.wait = "error: " + err.Error()
	}
	here, ok := p.here()
	p.add(items)
	p.narrow()
	for i, item := range p.shown {
		if ok && p.items[item].id == here.id {
			p.at = i
			return
		}
	}
}

func (p *picker) add(items []choice) {
	p.unfree()
	for _, c := range items {
		p.items = append(p.items, c)
		p.words = append(p.words, strings.ToLower(c.label+" "+c.note+" "+c.find))
		p.labels = max(p.labels, c.width(p.theme))
	}
}

// unfree takes back the choice that was made of what was typed.
func (p *picker) unfree() {
	if n := len(p.items) - 1; p.freed {
		p.items, p.words, p.freed = p.items[:n], p.words[:n], false
	}
}

// choices are the rows that are shown, in their order; mark marks one of them, false: there is no such row.
func (p *picker) choices() (out []choice) {
	for _, i := range p.shown {
		out = append(out, p.items[i])
	}
	return out
}

func (p *picker) mark(n int) bool {
	if n < 0 || n >= len(p.shown) {
		return false
	}
	p.at = n
	return true
}

// looking reports that the rows are still being looked for.
func (p *picker) looking() bool { return p.wait == looking }

// narrowTo puts a text into the filter.
func (p *picker) narrowTo(text string) {
	p.filter.set(text)
	p.narrow()
}

// here is the row under the mark.
func (p *picker) here() (choice, bool) {
	if p.at >= len(p.shown) {
		return choice{}, false
	}
	return p.items[p.shown[p.at]], true
}

// narrow shows what holds every word of the filter.
func (p *picker) narrow() {
	p.unfree()
	p.shown, p.at, p.narrowed = p.shown[:0], 0, p.filter.text
	words := strings.Fields(strings.ToLower(p.filter.text))
	for i := range p.items {
		if holdsAll(p.words[i], words) {
			p.shown = append(p.shown, i)
		}
	}
	if len(p.shown) > 0 || p.free == nil {
		return
	}
	if c, ok := p.free(strings.TrimSpace(p.filter.text)); ok {
		p.add([]choice{c})
		p.shown, p.freed = append(p.shown, len(p.items)-1), true
	}
}

// stale reports whether the filter changed since.
func (p *picker) stale() bool { return p.filter.text != p.narrowed }

func (p *picker) move(by int) { p.at = max(min(p.at+by, len(p.shown)-1), 0) }

// Render draws the filter and the rows around the chosen one, beside or above a look into it, and says where
// the cursor is.
func (p *picker) Render(w, h int) (rows []draw.Row, x, y int) {
	if p.peek == nil || h < minPeek {
		return p.list(w, h)
	}
	if w >= wideWidth {
		left := w * 3 / 5
		rows, x, y = p.list(left-2, h)
		c := canvas{rows: make([]draw.Row, h), theme: p.theme}
		c.put(Rect{0, 0, left - 2, h}, rows)
		c.divide(Rect{left - 1, 0, 1, h})
		c.put(Rect{left + 1, 0, w - left - 1, h}, p.peek.Render(p.theme, w-left-1, h))
		return c.rows, x, y
	}
	low := h / 3
	rows, x, y = p.list(w, h-low)
	for len(rows) < h-low {
		rows = append(rows, draw.Row{})
	}
	return append(rows, p.peek.Render(p.theme, w, low)...), x, y
}

// list draws the filter and the rows around the chosen one.
func (p *picker) list(w, h int) (rows []draw.Row, x, y int) {
	t := p.theme
	name := p.title
	if len(p.shown) < len(p.items) {
		name += fmt.Sprintf(" · %d of %d", len(p.shown), len(p.items))
	}
	rows = append(rows, title(t, w, name))
	lead := t.Pen().Fixed(draw.Key, "filter: ").Done()
	own, x, _ := p.filter.Rows(t, max(w-lead.Width(), 1))
	rows = append(rows, t.Pen().Row(lead).Row(own[0]).Done())
	room := max(h-len(rows), 1)
	if p.wait != "" {
		room = max(room-1, 1)
	}
	top := max(min(p.at-room/2, len(p.shown)-room), 0)
	labels := labelWidth(p.labels, w)
	for i := top; i < min(top+room, len(p.shown)); i++ {
		rows = append(rows, p.items[p.shown[i]].row(t, i == p.at, labels, w))
	}
	switch {
	case p.wait != "":
		rows = append(rows, t.Line(draw.Dim, safeterm.Name(p.wait)).Fit(w))
	case len(p.shown) == 0:
		rows = append(rows, t.Line(draw.Dim, safeterm.Fixed("nothing matches")))
	}
	return rows, lead.Width() + x, 1
}

// close ends the list without a choice.
func (p *picker) close() {
	p.open = false
	p.peek.drop()
}

// pick takes the marked row; canPick says why it cannot.
func (p *picker) pick() tea.Cmd {
	c, _ := p.here()
	p.close()
	return p.chosen(c)
}

func (p *picker) canPick() string {
	c, ok := p.here()
	if !ok {
		return "nothing matches the filter"
	}
	return c.off
}

// pickCopy takes a copy of the marked row; canPickCopy says why it cannot.
func (p *picker) pickCopy() tea.Cmd {
	c, _ := p.here()
	p.close()
	return p.copied(c)
}

func (p *picker) canPickCopy() string {
	switch c, ok := p.here(); {
	case p.copied == nil:
		return "only a session can be opened as a copy"
	case !ok || c.id == "":
		return "no session is marked"
	}
	return ""
}
