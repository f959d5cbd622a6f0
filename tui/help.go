package tui

import (
	"strings"

	"adze/internal/safeterm"
	"adze/tui/draw"
)

// help is the list of all keys and commands, over everything but the status line. Typing narrows it.
type help struct {
	open   bool
	top    int
	h      int // of the window, as last drawn
	filter editor
}

// helpLine is one key or command.
type helpLine struct {
	names, text string
	why         string // why it does nothing now; empty: it does
}

// helpGroup is a part of the list.
type helpGroup struct {
	title string
	lines []helpLine
}

// Render lists what the filter holds under the filter, and says where the cursor is.
func (h *help) Render(t *draw.Theme, groups []helpGroup, w, height int) (rows []draw.Row, x, y int) {
	all := h.rows(t, groups, w)
	h.h = height - 1
	h.top = max(min(h.top, len(all)-h.h), 0)
	end := min(h.top+h.h, len(all))
	right := draw.Row{}
	if len(all) > h.h {
		right = t.Pen().Fixed(draw.Plain, " ").Put(draw.Dim, safeterm.Name(rowsOf(h.top, end, len(all)))).Done()
	}
	lead := t.Pen().Fixed(draw.Key, "find: ").Done()
	own, x, _ := h.filter.Rows(t, max(w-lead.Width()-right.Width(), 1))
	head := t.Pen().Row(lead).Row(own[0]).Pad(w - right.Width()).Row(right).Done()
	return append([]draw.Row{head}, all[h.top:end]...), lead.Width() + x, 0
}

func (h *help) rows(t *draw.Theme, groups []helpGroup, w int) (rows []draw.Row) {
	for _, g := range groups {
		begun := false
		for _, l := range g.lines {
			if !h.holds(l) {
				continue
			}
			if !begun {
				rows, begun = append(rows, title(t, w, g.title)), true
			}
			rows = l.append(rows, t, w)
		}
	}
	if len(rows) == 0 {
		rows = append(rows, t.Line(draw.Dim, safeterm.Fixed("no key and no command has these words")))
	}
	return rows
}

// scroll moves the window.
func (h *help) scroll(by int) { h.top = max(h.top+by, 0) }

// begin opens the list with a text in its filter.
func (h *help) begin(find string) {
	*h = help{open: true}
	h.filter.insert(find)
}

// escape takes back what was typed first; then it closes the list.
func (h *help) escape() {
	if h.filter.text == "" {
		h.open = false
		return
	}
	h.filter, h.top = editor{}, 0
}

// holds reports whether a line has every word that was typed.
func (h *help) holds(l helpLine) bool {
	return holdsAll(strings.ToLower(l.names+" "+l.text+" "+l.why), strings.Fields(strings.ToLower(h.filter.text)))
}

// helpColumn is where the explanations begin.
const helpColumn = 32

// append draws the line.
func (l helpLine) append(rows []draw.Row, t *draw.Theme, w int) []draw.Row {
	column := min(helpColumn, w/3)
	margins := draw.Margins{
		First: t.Pen().Fixed(draw.Plain, "  ").Put(draw.Key, safeterm.Name(l.names)).Fixed(draw.Plain, "  ").Pad(column).Done(),
		Rest:  t.Pen().Pad(column).Done(),
	}
	text := draw.Span{Style: draw.Plain, Text: safeterm.Name(l.text)}
	if l.why != "" {
		text = draw.Span{Style: draw.Dim, Text: safeterm.Name(l.text + " (not now: " + l.why + ")")}
	}
	return t.Wrap(rows, w, margins, text)
}
