package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/tui/pane"
	"adze/tui/ui"
)

func (m *model) openChanges() tea.Cmd  { m.view.Toggle(m.changes); return nil }
func (m *model) openRefusals() tea.Cmd { m.view.Toggle(m.refusals); return nil }
func (m *model) openContext() tea.Cmd  { m.view.Toggle(m.ledger); return nil }
func (m *model) closeView() tea.Cmd    { m.view.Shut(); return nil }

func inSheet(move func(v *pane.View, n int), n int) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { move(m.view, n); return nil }
}

func canRefusals(m *model) string { return m.refusals.None() }

func canParts(m *model) string { return m.view.CanParts() }

func viewKeys() []binding {
	return append(sheetKeys(inView), []binding{
		{id: "pane.close", action: closePane, scope: inView, Binding: ui.Key("close the pane", "esc", "q", "enter"), do: (*model).closeView},
		{id: "interrupt", action: quit, scope: inView, Binding: ui.Key("stop the agent; twice: quit", "ctrl+c"), do: (*model).interrupt},
		{id: "help", action: showHelp, scope: inView, Binding: ui.KeyNamed("F1", "all keys", "f1", "?"), do: (*model).openHelp},
		{id: "pane.next", action: nextPart, scope: inView, Binding: ui.Key("the next file or part", "tab", "n"), can: canParts, do: inSheet((*pane.View).ToPart, 1)},
		{id: "pane.previous", action: nextPart, scope: inView, Binding: ui.Key("the file or part before", "shift+tab", "p"), can: canParts, do: inSheet((*pane.View).ToPart, -1)},
		{id: "pane.copy-path", action: copyPart, scope: inView, Binding: ui.Key("changes: copy the path of the file", "y"), can: looksAtChanges, do: (*model).copyPath},
		{id: "pane.copy-diff", action: copyPart, scope: inView, Binding: ui.Key("changes: copy the diff of the file", "d"), can: looksAtChanges, do: (*model).copyDiff},
		{id: "page-up", action: pageUp, scope: inView, Binding: ui.KeyNamed("PgUp", "a page up", "pgup", "b"), do: inSheet((*pane.View).ByPages, -1)},
		{id: "page-down", action: pageDown, scope: inView, Binding: ui.KeyNamed("PgDn", "a page down", "pgdown", "space"), do: inSheet((*pane.View).ByPages, 1)},
		{id: "pane.up", action: lineUp, scope: inView, Binding: ui.Key("a row up", "up", "k"), do: inSheet((*pane.View).Scroll, -1)},
		{id: "pane.down", action: lineDown, scope: inView, Binding: ui.Key("a row down", "down", "j"), do: inSheet((*pane.View).Scroll, 1)},
		{id: "pane.top", action: toTop, scope: inView, Binding: ui.KeyNamed("Home", "to the beginning", "home", "g"), do: inSheet((*pane.View).ToEnd, -1)},
		{id: "pane.bottom", action: toBottom, scope: inView, Binding: ui.KeyNamed("End", "to the end", "end", "G"), do: inSheet((*pane.View).ToEnd, 1)},
	}...)
}

// sheetKeys open panes, from the conversation and from one another.
func sheetKeys(s scope) []binding {
	key := func(id, name, help string, can func(*model) string, do func(*model) tea.Cmd) binding {
		return binding{id: id, action: openPane, scope: s, part: panes, Binding: ui.KeyNamed(strings.ToUpper(name), help, name), can: can, do: do}
	}
	return []binding{
		key("changes", "f3", "the files that were changed", nil, (*model).openChanges),
		key("context", "f4", "the model's context, and what was used", nil, (*model).openContext),
		key("sessions", "f5", "sessions: open one, or a new one", canSessions, (*model).chooseSession),
		key("model", "f6", "go on with another model", canModels, (*model).chooseModel),
		key("jobs", "f7", "background jobs: what they wrote, and their end", canJobs, chooseJob),
		key("servers", "f9", "MCP servers: their state and tools; start, stop, log in", canServers, chooseServer),
		key("refused", "f10", "what rules and the sandbox refused", canRefusals, (*model).openRefusals),
	}
}

// keyGroup says which keys stand together in help.
type keyGroup struct {
	title string
	scope scope
	part  part
}

// keyGroups are those of the screen that help was opened from.
func (m *model) keyGroups() []keyGroup {
	if m.first != nil {
		return []keyGroup{{"keys", inFirst, general}, {"while you write a key", inKey, general}, {"in a list to choose from", inPicker, general}}
	}
	groups := []keyGroup{
		{"keys", inPrompt, general}, {"panes", inPrompt, panes}, {"in a permission dialog", inDialog, general},
		{"while you write a reason", inReason, general},
		{"while you change a command", inText, general}, {"while you choose hunks", inHunks, general}, {"while the model asks you", inInquiry, general},
		{"in a pane", inView, general}, {"in a list to choose from", inPicker, general},
		{"while completions are shown", inPrompt, completing}, {"editing", inPrompt, editing},
	}
	here := m.under()
	slices.SortStableFunc(groups, func(a, b keyGroup) int { return away(a, here) - away(b, here) })
	return groups
}

// away is 0 for the keys of what help was opened from, which come first.
func away(g keyGroup, here scope) int {
	if g.scope == here && g.part != completing && g.part != editing {
		return 0
	}
	return 1
}

// helpGroups is what help lists now.
func (m *model) helpGroups() (out []pane.Group) {
	for _, g := range m.keyGroups() {
		out = append(out, pane.Group{Title: g.title, Lines: keyLines(m, g)})
	}
	if m.first == nil {
		out = append(out, pane.Group{Title: "commands, written as a message", Lines: commandLines(m)})
		if lines := namedLines(m); len(lines) > 0 {
			out = append(out, pane.Group{Title: "commands and skills, yours and of this project", Lines: lines})
		}
		out = append(out, pane.Group{Title: "words of other assistants", Lines: wordLines(m)})
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
		l := pane.Line{Names: b.Help().Key, Text: b.Help().Desc}
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
		l := pane.Line{Names: strings.TrimSpace("/" + c.name + " " + c.args), Text: c.help + alsoCalled(m, c.name)}
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
		{id: "help.back", action: closeHelp, scope: inHelp, Binding: ui.Key("close; first: take back what was typed", "esc"), do: (*model).escapeHelp},
		{id: "help.close", action: closeHelp, scope: inHelp, Binding: ui.Key("close", "f1", "enter"), do: (*model).closeHelp},
		{id: "interrupt", action: quit, scope: inHelp, Binding: ui.Key("stop the agent; twice: quit", "ctrl+c"), do: (*model).interrupt},
		{id: "page-up", action: pageUp, scope: inHelp, Binding: ui.KeyNamed("PgUp", "a page up", "pgup"), do: scrollHelp(-10)},
		{id: "page-down", action: pageDown, scope: inHelp, Binding: ui.KeyNamed("PgDn", "a page down", "pgdown"), do: scrollHelp(10)},
		{id: "help.up", action: lineUp, scope: inHelp, Binding: ui.Key("a row up", "up"), do: scrollHelp(-1)},
		{id: "help.down", action: lineDown, scope: inHelp, Binding: ui.Key("a row down", "down"), do: scrollHelp(1)},
	}
}
