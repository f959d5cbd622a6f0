package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"adze/tui/pane"
	"adze/tui/ui"
)

// sheets handles the panes that replace the conversation: net changes and context.
type sheets struct {
	host
	view   *pane.View
	ledger *pane.Ledger
	net    *net
}

func (s *sheets) commands() []command {
	return []command{
		{name: "context", help: "the model's context and what was used", run: noArgs(s.openContext)},
	}
}

func (s *sheets) openContext() tea.Cmd { s.view.Toggle(s.ledger); return nil }

func (s *sheets) canParts() string { return s.view.CanParts() }

func (s *sheets) hints() (hints []string) {
	if s.canParts() == "" {
		hints = append(hints, s.label(nextPart)+": next")
	}
	if s.view.Shows(s.net.pane) {
		hints = append(hints, s.net.hints()...)
	}
	return append(hints, s.label(showHelp)+": keys")
}

// keys returns the keys of an open pane.
func (s *sheets) keys(e commonKeys) []binding {
	move := func(id string, a action, b key.Binding, how func(*pane.View, int), n int) binding {
		return binding{id: id, action: a, scope: inView, Binding: b, run: func() tea.Cmd { how(s.view, n); return nil }}
	}
	part := func(id, help string, n int, keys ...string) binding {
		b := move(id, nextPart, ui.Key(help, keys...), (*pane.View).ToPart, n)
		b.can = s.canParts
		return b
	}
	return []binding{
		{id: "pane.close", action: closePane, scope: inView, Binding: ui.Key("close the pane", "esc", "q", "enter"), run: func() tea.Cmd { s.view.Shut(); return nil }},
		{id: "interrupt", action: quit, scope: inView, Binding: ui.Key(e.ctrlC, "ctrl+c"), run: e.interrupt},
		{id: "help", action: showHelp, scope: inView, Binding: ui.KeyNamed("F1", "all keys", "f1", "?"), run: e.help},
		part("pane.next", "the next file or part", 1, "tab", "n"),
		part("pane.previous", "the file or part before", -1, "shift+tab", "p"),
		move("page-up", pageUp, ui.KeyNamed("PgUp", "a page up", "pgup", "b"), (*pane.View).ByPages, -1),
		move("page-down", pageDown, ui.KeyNamed("PgDn", "a page down", "pgdown", "space"), (*pane.View).ByPages, 1),
		move("pane.up", lineUp, ui.Key("a row up", "up", "k"), (*pane.View).Scroll, -1),
		move("pane.down", lineDown, ui.Key("a row down", "down", "j"), (*pane.View).Scroll, 1),
		move("pane.top", toTop, ui.KeyNamed("Home", "to the beginning", "home", "g"), (*pane.View).ToEnd, -1),
		move("pane.bottom", toBottom, ui.KeyNamed("End", "to the end", "end", "G"), (*pane.View).ToEnd, 1),
	}
}
