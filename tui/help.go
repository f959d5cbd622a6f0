package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"adze/tui/draw"
	"adze/tui/pane"
	"adze/tui/ui"
)

// help is the pane with all keys and commands.
type help struct {
	host
	pane  pane.Help
	theme *draw.Theme
	rows  func() []binding // key table
	under func() scope     // scope below help
	first func() bool      // reports whether the setup screen is shown
	// written returns the groups of commands.
	written func() []pane.Group
}

// keyGroup is a section of keys in help.
type keyGroup struct {
	title string
	scope scope
	part  part
}

func (h *help) commands() []command {
	return []command{{name: "help", args: "[words]", help: "all keys and commands, or those with these words", run: h.begin}}
}

func (h *help) open() tea.Cmd { return h.begin("") }

// begin opens help, filtered by words.
func (h *help) begin(words string) tea.Cmd {
	h.pane.Begin(words)
	return nil
}

func (h *help) keys(e commonKeys) []binding {
	scroll := func(by int) func() tea.Cmd {
		return func() tea.Cmd { h.pane.Scroll(by); return nil }
	}
	return []binding{
		{id: "help.close", action: closeHelp, scope: inHelp, Binding: ui.Key("close", "esc", "f1", "enter"), run: func() tea.Cmd { h.pane.Open = false; return nil }},
		{id: "interrupt", action: quit, scope: inHelp, Binding: ui.Key(e.ctrlC, "ctrl+c"), run: e.interrupt},
		{id: "page-up", action: pageUp, scope: inHelp, Binding: ui.KeyNamed("PgUp", "a page up", "pgup"), run: scroll(-10)},
		{id: "page-down", action: pageDown, scope: inHelp, Binding: ui.KeyNamed("PgDn", "a page down", "pgdown"), run: scroll(10)},
		{id: "help.up", action: lineUp, scope: inHelp, Binding: ui.Key("a row up", "up"), run: scroll(-1)},
		{id: "help.down", action: lineDown, scope: inHelp, Binding: ui.Key("a row down", "down"), run: scroll(1)},
	}
}

// render draws the pane and returns the cursor position.
func (h *help) render(width, height int) (rows []draw.Row, x, y int) {
	return h.pane.Render(h.theme, h.groups(), width, height)
}

func (h *help) groups() (out []pane.Group) {
	for _, g := range h.keyGroups() {
		out = append(out, pane.Group{Title: g.title, Lines: h.keyLines(g), Found: !h.first() && away(g, h.under()) > 0})
	}
	if !h.first() {
		out = append(out, h.written()...)
	}
	return out
}

// keyGroups returns the sections, beginning with the scope below help.
func (h *help) keyGroups() []keyGroup {
	if h.first() {
		return []keyGroup{{"keys", inFirst, general}, {"while you write a key", inKey, general}, {"in a list to choose from", inPicker, general}}
	}
	groups := []keyGroup{
		{"keys", inPrompt, general}, {"panes", inPrompt, panes}, {"in a question about a call", inDialog, general},
		{"while you write a reason", inReason, general},
		{"while you edit a command", inText, general}, {"while you choose hunks", inHunks, general}, {"while the model asks you", inInquiry, general},
		{"in a pane", inView, general}, {"in a list to choose from", inPicker, general},
		{"while completions are shown", inPrompt, completing}, {"editing", inPrompt, editing},
	}
	here := h.under()
	slices.SortStableFunc(groups, func(a, b keyGroup) int { return away(a, here) - away(b, here) })
	return groups
}

// away returns 0 for the keys of the scope below help, which come first, else 1.
func away(g keyGroup, here scope) int {
	if g.scope == here && g.part != completing && g.part != editing {
		return 0
	}
	return 1
}

// keyLines returns a section's keys, with the reason for an unavailable one. Keys with the same
// effect share a line.
func (h *help) keyLines(g keyGroup) []pane.Line {
	var out []pane.Line
	for _, b := range h.rows() {
		if b.scope != g.scope || b.part != g.part || h.first() && (b.action == openCopy || b.action == endMarked) {
			continue
		}
		l := pane.Line{Names: b.Help().Key, Text: b.Help().Desc}
		if b.scope == h.under() && b.part != completing {
			l.Reason = b.disabled()
		}
		if last := len(out) - 1; last >= 0 && out[last].Text == l.Text && out[last].Reason == l.Reason && l.Names != "" {
			out[last].Names += " " + l.Names
			continue
		}
		out = append(out, l)
	}
	return out
}
