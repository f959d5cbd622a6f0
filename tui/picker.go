package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/internal/safeterm"
	"adze/tui/draw"
)

// choice is one row of a picker.
type choice struct {
	id    string
	label string
	note  string
}

// picker is the pane in which one of several things is chosen: a session, a model, a mode, a call.
type picker struct {
	theme    *draw.Theme
	open     bool
	title    string
	items    []choice
	shown    []int // of items: those that match the filter
	at       int   // in shown
	filter   editor
	narrowed string // the filter that shown is for
	wait     string // why there is nothing yet: it is being looked for, or looking failed
	serial   int    // tells late answers of an earlier opening
	chosen   func(m *model, c choice) tea.Cmd
}

// begin opens the picker; items may come later by fill.
func (p *picker) begin(title string, items []choice, chosen func(*model, choice) tea.Cmd) {
	*p = picker{theme: p.theme, open: true, title: title, items: items, chosen: chosen, serial: p.serial + 1}
	p.narrow()
}

// fill adds what was looked up.
func (p *picker) fill(items []choice, err error) {
	p.wait = ""
	if err != nil {
		p.wait = "error: " + err.Error()
	}
	p.items = append(p.items, items...)
	p.narrow()
}

// narrow shows what holds every word of the filter.
func (p *picker) narrow() {
	p.shown, p.at, p.narrowed = p.shown[:0], 0, p.filter.text
	words := strings.Fields(strings.ToLower(p.filter.text))
	for i, c := range p.items {
		if holdsAll(strings.ToLower(c.label+" "+c.note), words) {
			p.shown = append(p.shown, i)
		}
	}
}

// stale reports whether the filter changed since.
func (p *picker) stale() bool { return p.filter.text != p.narrowed }

func holdsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func (p *picker) move(by int) { p.at = max(min(p.at+by, len(p.shown)-1), 0) }

// Render draws the filter and the rows around the chosen one, and says where the cursor is.
func (p *picker) Render(w, h int) (rows []draw.Row, x, y int) {
	t := p.theme
	rows = append(rows, title(t, w, p.title))
	lead := t.Pen().Fixed(draw.Key, "filter: ").Done()
	own, x, _ := p.filter.Rows(t, max(w-lead.Width(), 1))
	rows = append(rows, t.Pen().Row(lead).Row(own[0]).Done())
	room := max(h-len(rows), 1)
	top := max(min(p.at-room/2, len(p.shown)-room), 0)
	labels := p.labelWidth(w)
	for i := top; i < min(top+room, len(p.shown)); i++ {
		rows = append(rows, p.row(p.items[p.shown[i]], i == p.at, labels, w))
	}
	switch {
	case p.wait != "":
		rows = append(rows, t.Line(draw.Dim, safeterm.Name(p.wait)).Fit(w))
	case len(p.shown) == 0:
		rows = append(rows, t.Line(draw.Dim, safeterm.Fixed("nothing matches")))
	}
	return rows, lead.Width() + x, 1
}

// labelWidth is the column where notes begin.
func (p *picker) labelWidth(w int) int {
	widest := 0
	for _, i := range p.shown {
		widest = max(widest, p.theme.Line(draw.Plain, safeterm.Name(p.items[i].label)).Width())
	}
	return min(widest, w/2) + 2
}

func (p *picker) row(c choice, here bool, labels, w int) draw.Row {
	pen := p.theme.Pen()
	style := draw.Plain
	if here {
		pen.Fixed(draw.Accent, "▸ ")
		style = draw.Bold
	} else {
		pen.Fixed(draw.Plain, "  ")
	}
	label := p.theme.Line(style, safeterm.Name(c.label)).Fit(labels)
	return pen.Row(label).Pad(labels+2).Put(draw.Dim, safeterm.Name(c.note)).Done().Fit(w)
}

func (m *model) closePicker() tea.Cmd { m.picker.open = false; return nil }

func (m *model) pick() tea.Cmd {
	p := m.picker
	c := p.items[p.shown[p.at]]
	p.open = false
	return p.chosen(m, c)
}

func canPick(m *model) string {
	if len(m.picker.shown) == 0 {
		return "nothing matches the filter"
	}
	return ""
}

func movePicker(by int) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { m.picker.move(by); return nil }
}

func pickerKeys() []binding {
	return []binding{
		{action: choose, scope: inPicker, keys: []string{"enter"}, help: "choose", can: canPick, do: (*model).pick},
		{action: closePane, scope: inPicker, keys: []string{"esc"}, help: "close without choosing", do: (*model).closePicker},
		{action: quit, scope: inPicker, keys: []string{"ctrl+c"}, help: "stop the agent; twice: quit", do: (*model).interrupt},
		{action: lineUp, scope: inPicker, keys: []string{"up", "ctrl+p"}, help: "the one above", do: movePicker(-1)},
		{action: lineDown, scope: inPicker, keys: []string{"down", "ctrl+n"}, help: "the one below", do: movePicker(1)},
		{action: pageUp, scope: inPicker, keys: []string{"pgup"}, label: "PgUp", help: "ten up", do: movePicker(-10)},
		{action: pageDown, scope: inPicker, keys: []string{"pgdown"}, label: "PgDn", help: "ten down", do: movePicker(10)},
	}
}
