package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/internal/safeterm"
	"adze/tui/draw"
)

// sheet is a pane that is looked at in place of the conversation, such as the changes.
type sheet interface {
	// Heading is its name and what it amounts to.
	Heading() string
	// Sheet lays it out; marks are the rows at which its parts begin.
	Sheet(w int) (rows []draw.Row, marks []int)
}

// view is the window on the sheet that is open.
type view struct {
	theme *draw.Theme
	sheet sheet // nil: none is open
	close string
	top   int
	h     int   // of the window, as last drawn
	total int   // rows, likewise
	marks []int // likewise
}

// Render draws the sheet under its heading.
func (v *view) Render(w, h int) []draw.Row {
	rows, marks := v.sheet.Sheet(w)
	v.h, v.total, v.marks = h-1, len(rows), marks
	v.top = max(min(v.top, v.total-v.h), 0)
	where := v.close + " closes"
	if v.total > v.h {
		where = fmt.Sprintf("rows %d–%d of %d · %s", v.top+1, min(v.top+v.h, v.total), v.total, where)
	}
	right := v.theme.Pen().Fixed(draw.Plain, " ").Put(draw.Dim, safeterm.Name(where)).Done()
	head := v.theme.Pen().Fixed(draw.Border, "── ").Put(draw.Bold, safeterm.Name(v.sheet.Heading())).Fixed(draw.Plain, " ")
	out := []draw.Row{head.Rule(draw.Border, w-right.Width()).Row(right).Done().Fit(w)}
	return append(out, rows[v.top:min(v.top+v.h, v.total)]...)
}

func (v *view) scroll(by int) { v.top = max(min(v.top+by, v.total-v.h), 0) }

// toPart goes to the next part of the sheet, or to the one before.
func (v *view) toPart(by int) {
	to := v.top
	for _, at := range v.marks {
		if by > 0 && at > v.top {
			to = at
			break
		}
		if by < 0 && at < v.top {
			to = at
		}
	}
	v.top = max(min(to, v.total-v.h), 0)
}

// openSheet shows a sheet; the key of the one that is open closes it.
func (m *model) openSheet(s sheet) tea.Cmd {
	if m.view.sheet == s {
		return m.closeView()
	}
	m.view.sheet, m.view.top = s, 0
	return nil
}

func (m *model) openChanges() tea.Cmd { return m.openSheet(m.changes) }
func (m *model) openContext() tea.Cmd { return m.openSheet(m.ledger) }
func (m *model) closeView() tea.Cmd   { m.view.sheet = nil; return nil }

func scrollView(by func(v *view) int) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { m.view.scroll(by(m.view)); return nil }
}

func viewPart(by int) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { m.view.toPart(by); return nil }
}

func canParts(m *model) string {
	if len(m.view.marks) < 2 {
		return "there is only one part"
	}
	return ""
}

func viewKeys() []binding {
	page := func(n int) func(*view) int { return func(v *view) int { return n * max(v.h-2, 1) } }
	by := func(n int) func(*view) int { return func(*view) int { return n } }
	all := func(n int) func(*view) int { return func(v *view) int { return n * v.total } }
	return append(sheetKeys(inView), []binding{
		{action: closePane, scope: inView, keys: []string{"esc", "q", "enter"}, help: "close the pane", do: (*model).closeView},
		{action: quit, scope: inView, keys: []string{"ctrl+c"}, help: "stop the agent; twice: quit", do: (*model).interrupt},
		{action: nextPart, scope: inView, keys: []string{"tab", "n"}, help: "the next file or part", can: canParts, do: viewPart(1)},
		{action: nextPart, scope: inView, keys: []string{"shift+tab", "p"}, help: "the file or part before", can: canParts, do: viewPart(-1)},
		{action: pageUp, scope: inView, keys: []string{"pgup", "b"}, label: "PgUp", help: "a page up", do: scrollView(page(-1))},
		{action: pageDown, scope: inView, keys: []string{"pgdown", "space"}, label: "PgDn", help: "a page down", do: scrollView(page(1))},
		{action: lineUp, scope: inView, keys: []string{"up", "k"}, help: "a row up", do: scrollView(by(-1))},
		{action: lineDown, scope: inView, keys: []string{"down", "j"}, help: "a row down", do: scrollView(by(1))},
		{action: toTop, scope: inView, keys: []string{"home", "g"}, label: "Home", help: "to the beginning", do: scrollView(all(-1))},
		{action: toBottom, scope: inView, keys: []string{"end", "G"}, label: "End", help: "to the end", do: scrollView(all(1))},
	}...)
}

// sheetKeys open panes, from the conversation and from one another.
func sheetKeys(s scope) []binding {
	key := func(name, help string, can func(*model) string, do func(*model) tea.Cmd) binding {
		return binding{action: openPane, scope: s, part: panes, keys: []string{name}, label: strings.ToUpper(name), help: help, can: can, do: do}
	}
	return []binding{
		key("f3", "the files that were changed", nil, (*model).openChanges),
		key("f4", "the model's context, and what was used", nil, (*model).openContext),
		key("f5", "sessions: open one, or a new one", canSessions, (*model).chooseSession),
		key("f6", "go on with another model", canModels, (*model).chooseModel),
	}
}
