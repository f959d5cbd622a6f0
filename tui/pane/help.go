package pane

import (
	"strings"

	"adze/internal/text/safeterm"
	"adze/tui/draw"
	"adze/tui/edit"
	"adze/tui/ui"
)

// Help lists all keys and commands in a full-screen pane. Typing filters it.
type Help struct {
	Open   bool
	top    int
	h      int // window height when last drawn
	Filter edit.Editor
}

// Line is one key or command.
type Line struct {
	Names, Text string
	Reason      string // why it is unavailable, or ""
}

// Group is a section of the list.
type Group struct {
	Title string
	Lines []Line
	// Found hides the group until the filter matches one of its lines.
	Found bool
}

// Render draws the filter and the matching lines, and returns the cursor position.
func (h *Help) Render(t *draw.Theme, groups []Group, w, height int) (rows []draw.Row, x, y int) {
	all := h.rows(t, groups, w)
	h.h = height - 1
	h.top = max(min(h.top, len(all)-h.h), 0)
	end := min(h.top+h.h, len(all))
	right := draw.Row{}
	if len(all) > h.h {
		right = t.Pen().Fixed(draw.Plain, " ").Put(draw.Dim, safeterm.Name(ui.RowsOf(h.top, end, len(all)))).Done()
	}
	lead := t.Pen().Fixed(draw.Key, "find: ").Done()
	own, x, _ := h.Filter.Rows(t, max(w-lead.Width()-right.Width(), 1))
	head := t.Pen().Row(lead).Row(own[0]).Pad(w - right.Width()).Row(right).Done()
	return append([]draw.Row{head}, all[h.top:end]...), lead.Width() + x, 0
}

func (h *Help) rows(t *draw.Theme, groups []Group, w int) (rows []draw.Row) {
	for _, g := range groups {
		if g.Found && h.Filter.Text == "" {
			continue
		}
		begun := false
		for _, l := range g.Lines {
			if !h.holds(l) {
				continue
			}
			if !begun {
				rows, begun = append(rows, ui.Title(t, w, g.Title)), true
			}
			rows = l.append(rows, t, w)
		}
	}
	if last := len(groups) - 1; last >= 0 && groups[last].Found && h.Filter.Text == "" {
		rows = append(rows, draw.Row{}, t.Line(draw.Dim, safeterm.Fixed("type to find more: commands (/ lists them), keys of editing, questions and panes")).Fit(w))
	}
	if len(rows) == 0 {
		rows = append(rows, t.Line(draw.Dim, safeterm.Fixed("no key and no command has these words")))
	}
	return rows
}

// Scroll moves the window.
func (h *Help) Scroll(by int) { h.top = max(h.top+by, 0) }

// Begin opens the list with find as the filter.
func (h *Help) Begin(find string) {
	*h = Help{Open: true}
	h.Filter.Insert(find)
}

// holds reports whether a line contains every filter word.
func (h *Help) holds(l Line) bool {
	return ui.HoldsAll(strings.ToLower(l.Names+" "+l.Text+" "+l.Reason), strings.Fields(strings.ToLower(h.Filter.Text)))
}

// helpColumn is where explanations begin.
const helpColumn = 32

func (l Line) append(rows []draw.Row, t *draw.Theme, w int) []draw.Row {
	column := min(helpColumn, w/3)
	margins := draw.Margins{
		First:        t.Pen().Fixed(draw.Plain, "  ").Put(draw.Key, safeterm.Name(l.Names)).Fixed(draw.Plain, "  ").Pad(column).Done(),
		Continuation: t.Pen().Pad(column).Done(),
	}
	text := draw.Span{Style: draw.Plain, Text: safeterm.Name(l.Text)}
	if l.Reason != "" {
		text = draw.Span{Style: draw.Dim, Text: safeterm.Name(l.Text + " (not now: " + l.Reason + ")")}
	}
	return t.Wrap(rows, w, margins, text)
}
