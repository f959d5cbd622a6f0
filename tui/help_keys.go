package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/tui/pane"
)

// keyGroup says which keys stand together in help.
type keyGroup struct {
	title string
	scope scope
	part  part
}

// keyGroups are those of the screen that help was opened from.
func (m *model) keyGroups() []keyGroup {
	if m.first != nil {
		return []keyGroup{{"keys", inFirst, general}, {"in a list to choose from", inPicker, general}}
	}
	return []keyGroup{
		{"keys", inPrompt, general}, {"panes", inPrompt, panes}, {"in a permission dialog", inDialog, general},
		{"while you write a reason", inReason, general},
		{"in a pane", inView, general}, {"in a list to choose from", inPicker, general},
		{"while completions are shown", inPrompt, completing}, {"editing", inPrompt, editing},
	}
}

// helpGroups is what help lists now.
func (m *model) helpGroups() (out []pane.Group) {
	for _, g := range m.keyGroups() {
		out = append(out, pane.Group{Title: g.title, Lines: keyLines(m, g)})
	}
	if m.first == nil {
		out = append(out, pane.Group{Title: "commands, written as a message", Lines: commandLines(m)})
	}
	return out
}

// keyLines are the keys of a group. One that does nothing now says why.
func keyLines(m *model, g keyGroup) []pane.Line {
	var out []pane.Line
	for _, b := range m.keys.table {
		if b.scope != g.scope || b.part != g.part {
			continue
		}
		l := pane.Line{Names: strings.Join(b.keys, " "), Text: b.help}
		if b.label != "" {
			l.Names = b.label
		}
		if b.scope == m.under() && b.part != completing {
			l.Why = b.disabled(m)
		}
		out = append(out, l)
	}
	return out
}

// commandLines are what a prompt with a slash, an exclamation mark or an @ does.
func commandLines(m *model) []pane.Line {
	var out []pane.Line
	for _, c := range commands() {
		l := pane.Line{Names: strings.TrimSpace("/" + c.name + " " + c.args), Text: c.help}
		if c.can != nil {
			l.Why = c.can(m)
		}
		out = append(out, l)
	}
	return append(out,
		pane.Line{Names: "!command", Text: "run a command yourself; the agent sees what it printed"},
		pane.Line{Names: "@file", Text: "complete the name of a file"})
}

func (m *model) openHelp() tea.Cmd {
	m.help.Begin("")
	return nil
}

// helpCommand shows what a command or a key does.
func (m *model) helpCommand(arg string) tea.Cmd {
	m.help.Begin(arg)
	return nil
}

// closeHelp takes back what was typed first.
func (m *model) closeHelp() tea.Cmd { m.help.Open = false; return nil }

func (m *model) escapeHelp() tea.Cmd { m.help.Escape(); return nil }

func scrollHelp(by int) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { m.help.Scroll(by); return nil }
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
