package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/tui/pane"
)

func (m *model) openChanges() tea.Cmd { m.view.Toggle(m.changes); return nil }
func (m *model) openContext() tea.Cmd { m.view.Toggle(m.ledger); return nil }
func (m *model) closeView() tea.Cmd   { m.view.Shut(); return nil }

func inSheet(move func(v *pane.View, n int), n int) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { move(m.view, n); return nil }
}

func canParts(m *model) string { return m.view.CanParts() }

func viewKeys() []binding {
	return append(sheetKeys(inView), []binding{
		{action: closePane, scope: inView, keys: []string{"esc", "q", "enter"}, help: "close the pane", do: (*model).closeView},
		{action: quit, scope: inView, keys: []string{"ctrl+c"}, help: "stop the agent; twice: quit", do: (*model).interrupt},
		{action: showHelp, scope: inView, keys: []string{"f1", "?"}, label: "F1", help: "all keys", do: (*model).openHelp},
		{action: nextPart, scope: inView, keys: []string{"tab", "n"}, help: "the next file or part", can: canParts, do: inSheet((*pane.View).ToPart, 1)},
		{action: nextPart, scope: inView, keys: []string{"shift+tab", "p"}, help: "the file or part before", can: canParts, do: inSheet((*pane.View).ToPart, -1)},
		{action: copyPart, scope: inView, keys: []string{"y"}, help: "changes: copy the path of the file", can: looksAtChanges, do: (*model).copyPath},
		{action: copyPart, scope: inView, keys: []string{"d"}, help: "changes: copy the diff of the file", can: looksAtChanges, do: (*model).copyDiff},
		{action: pageUp, scope: inView, keys: []string{"pgup", "b"}, label: "PgUp", help: "a page up", do: inSheet((*pane.View).ByPages, -1)},
		{action: pageDown, scope: inView, keys: []string{"pgdown", "space"}, label: "PgDn", help: "a page down", do: inSheet((*pane.View).ByPages, 1)},
		{action: lineUp, scope: inView, keys: []string{"up", "k"}, help: "a row up", do: inSheet((*pane.View).Scroll, -1)},
		{action: lineDown, scope: inView, keys: []string{"down", "j"}, help: "a row down", do: inSheet((*pane.View).Scroll, 1)},
		{action: toTop, scope: inView, keys: []string{"home", "g"}, label: "Home", help: "to the beginning", do: inSheet((*pane.View).ToEnd, -1)},
		{action: toBottom, scope: inView, keys: []string{"end", "G"}, label: "End", help: "to the end", do: inSheet((*pane.View).ToEnd, 1)},
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
