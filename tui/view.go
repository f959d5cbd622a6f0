package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/internal/safeterm"
	"adze/tui/draw"
)

// sheet is a pane that is looked at in place of the conversation, such as the changes. It has one of two more
// methods; marks are the rows at which its parts begin:
//
//	Sheet(w int) (rows []draw.Row, marks []int)
//	Pages(w int) (rows page, marks []int) // where there may be too many rows to draw all of them
type sheet interface {
	// Heading is its name and what it amounts to.
	Heading() string
}

// lay lays a sheet out.
func lay(s sheet, w int) (page, []int) {
	switch s := s.(type) {
	case interface{ Pages(w int) (page, []int) }:
		return s.Pages(w)
	case interface {
		Sheet(w int) ([]draw.Row, []int)
	}:
		rows, marks := s.Sheet(w)
		return laidRows(rows), marks
	}
	return laidRows(nil), nil
}

// view is the window on the sheet that is open.
type view struct {
	theme *draw.Theme
	sheet sheet // nil: none is open
	close string
	top   int
	part  int   // of the sheet: the one that is looked at
	h     int   // of the window, as last drawn
	total int   // rows, likewise
	marks []int // likewise
}

// Render draws the sheet under its heading.
func (v *view) Render(w, h int) []draw.Row {
	rows, marks := lay(v.sheet, w)
	v.h, v.total, v.marks = h-1, rows.Len(), marks
	v.top = max(min(v.top, v.total-v.h), 0)
	v.part = max(min(v.part, len(marks)-1), 0)
	head := v.theme.Pen().Fixed(draw.Border, "── ").Put(draw.Bold, safeterm.Name(v.sheet.Heading())).Fixed(draw.Plain, " ")
	right := v.where("rows %d–%d of %d · ")
	if head.Width()+right.Width() > w {
		right = v.where("%d–%d/%d · ")
	}
	out := []draw.Row{head.Rule(draw.Border, w-right.Width()).Row(right).Done().Fit(w)}
	return rows.Append(out, v.top, min(v.top+v.h, v.total))
}

// where says what is seen of the sheet.
func (v *view) where(rows string) draw.Row {
	pen := v.theme.Pen().Fixed(draw.Plain, " ")
	put := func(format string, args ...any) { pen.Put(draw.Dim, safeterm.Name(fmt.Sprintf(format, args...))) }
	if len(v.marks) > 1 {
		put("%d of %d · ", v.part+1, len(v.marks))
	}
	if v.total > v.h {
		put(rows, v.top+1, min(v.top+v.h, v.total), v.total)
	}
	put("%s closes", v.close)
	return pen.Done()
}

// rowsOf says which rows are seen, of how many.
func rowsOf(from, to, of int) string { return fmt.Sprintf("rows %d–%d of %d", from+1, to, of) }

// scroll moves the window; the part that is looked at is then the one at its top.
func (v *view) scroll(by int) {
	v.top = max(min(v.top+by, v.total-v.h), 0)
	for i, at := range v.marks {
		if at <= v.top {
			v.part = i
		}
	}
}

// toPart goes to the next part of the sheet, or to the one before.
func (v *view) toPart(by int) {
	v.part = max(min(v.part+by, len(v.marks)-1), 0)
	v.top = max(min(v.marks[v.part], v.total-v.h), 0)
}

// openSheet shows a sheet; the key of the one that is open closes it.
func (m *model) openSheet(s sheet) tea.Cmd {
	if m.view.sheet == s {
		return m.closeView()
	}
	m.view.sheet, m.view.top, m.view.part = s, 0, 0
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
		{action: showHelp, scope: inView, keys: []string{"f1", "?"}, label: "F1", help: "all keys", do: (*model).openHelp},
		{action: nextPart, scope: inView, keys: []string{"tab", "n"}, help: "the next file or part", can: canParts, do: viewPart(1)},
		{action: nextPart, scope: inView, keys: []string{"shift+tab", "p"}, help: "the file or part before", can: canParts, do: viewPart(-1)},
		{action: copyPart, scope: inView, keys: []string{"y"}, help: "changes: copy the path of the file", can: looksAtChanges, do: (*model).copyPath},
		{action: copyPart, scope: inView, keys: []string{"d"}, help: "changes: copy the diff of the file", can: looksAtChanges, do: (*model).copyDiff},
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
