package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

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

// Render lists what the filter holds under the filter, and says where the cursor is.
func (h *help) Render(m *model, w, height int) (rows []draw.Row, x, y int) {
	t := m.draw.theme
	all := h.rows(m, w)
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

// group is a part of the list.
type group struct {
	title string
	scope scope
	part  part
}

// groups are those of the screen that help was opened from.
func (m *model) groups() []group {
	if m.first != nil {
		return []group{{"keys", inFirst, general}, {"in a list to choose from", inPicker, general}}
	}
	return []group{
		{"keys", inPrompt, general}, {"panes", inPrompt, panes}, {"in a permission dialog", inDialog, general},
		{"while you write a reason", inReason, general},
		{"in a pane", inView, general}, {"in a list to choose from", inPicker, general},
		{"while completions are shown", inPrompt, completing}, {"editing", inPrompt, editing},
	}
}

func (h *help) rows(m *model, w int) []draw.Row {
	var rows []draw.Row
	add := func(name string, lines []helpLine) {
		begun := false
		for _, l := range lines {
			if !h.holds(l) {
				continue
			}
			if !begun {
				rows, begun = append(rows, title(m.draw.theme, w, name)), true
			}
			rows = h.line(rows, m, l, w)
		}
	}
	for _, g := range m.groups() {
		add(g.title, keyLines(m, g))
	}
	if m.first == nil {
		add("commands, written as a message", commandLines(m))
	}
	if len(rows) == 0 {
		rows = append(rows, m.draw.theme.Line(draw.Dim, safeterm.Fixed("no key and no command has these words")))
	}
	return rows
}

// holds reports whether a line has every word that was typed.
func (h *help) holds(l helpLine) bool {
	return holdsAll(strings.ToLower(l.names+" "+l.text+" "+l.why), strings.Fields(strings.ToLower(h.filter.text)))
}

// keyLines are the keys of a group. One that does nothing now says why.
func keyLines(m *model, g group) []helpLine {
	var out []helpLine
	for _, b := range m.keys.table {
		if b.scope != g.scope || b.part != g.part {
			continue
		}
		l := helpLine{names: strings.Join(b.keys, " "), text: b.help}
		if b.label != "" {
			l.names = b.label
		}
		if b.scope == m.under() && b.part != completing {
			l.why = b.disabled(m)
		}
		out = append(out, l)
	}
	return out
}

// commandLines are what a prompt with a slash, an exclamation mark or an @ does.
func commandLines(m *model) []helpLine {
	var out []helpLine
	for _, c := range commands() {
		l := helpLine{names: strings.TrimSpace("/" + c.name + " " + c.args), text: c.help}
		if c.can != nil {
			l.why = c.can(m)
		}
		out = append(out, l)
	}
	return append(out,
		helpLine{names: "!command", text: "run a command yourself; the agent sees what it printed"},
		helpLine{names: "@file", text: "complete the name of a file"})
}

// helpColumn is where the explanations begin.
const helpColumn = 32

func (h *help) line(rows []draw.Row, m *model, l helpLine, w int) []draw.Row {
	t := m.draw.theme
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

func (m *model) openHelp() tea.Cmd {
	m.help = help{open: true}
	return nil
}

// helpCommand shows what a command or a key does.
func (m *model) helpCommand(arg string) tea.Cmd {
	m.help = help{open: true}
	m.help.filter.insert(arg)
	return nil
}

// closeHelp takes back what was typed first.
func (m *model) closeHelp() tea.Cmd { m.help.open = false; return nil }

func (m *model) escapeHelp() tea.Cmd {
	if m.help.filter.text == "" {
		return m.closeHelp()
	}
	m.help.filter, m.help.top = editor{}, 0
	return nil
}

func scrollHelp(by int) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { m.help.top = max(m.help.top+by, 0); return nil }
}

func helpKeys() []binding {
	return []binding{
		{action: closeHelp, scope: inHelp, keys: []string{"esc"}, help: "close; first: take back what was typed", do: (*model).escapeHelp},
		{action: closeHelp, scope: inHelp, keys: []string{"f1", "enter"}, help: "close", do: (*model).closeHelp},
		{action: quit, scope: inHelp, keys: []string{"ctrl+c"}, help: "stop the agent; twice: quit", do: (*model).interrupt},
		{action: pageUp, scope: inHelp, keys: []string{"pgup"}, label: "PgUp", help: "a page up", do: scrollHelp(-10)},
		{action: pageDown, scope: inHelp, keys: []string{"pgdown"}, label: "PgDn", help: "a page down", do: scrollHelp(10)},
		{action: lineUp, scope: inHelp, keys: []string{"up"}, help: "a row up", do: scrollHelp(-1)},
		{action: lineDown, scope: inHelp, keys: []string{"down"}, help: "a row down", do: scrollHelp(1)},
	}
}
