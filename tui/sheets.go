package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"adze/tui/pane"
	"adze/tui/ui"
)

// sheets are the panes that take the place of the conversation: changes, refusals and the context.
type sheets struct {
	host
	view     *pane.View
	changes  *pane.Changes
	refusals *pane.Refusals
	ledger   *pane.Ledger
	net      *net
	// copy puts a text onto the clipboard and says so.
	copy func(what, text string) tea.Cmd
}

func (s *sheets) commands() []command {
	return []command{
		{name: "changes", help: "what differs now, each hunk once: keep, revert, stage, open, commit", do: noArgs(s.openChanges)},
		{name: "refused", help: "what rules and the sandbox refused", can: s.canRefusals, do: noArgs(s.openRefusals)},
		{name: "context", help: "the model's context and what was used", do: noArgs(s.openContext)},
	}
}

func (s *sheets) openRefusals() tea.Cmd { s.view.Toggle(s.refusals); return nil }
func (s *sheets) openContext() tea.Cmd  { s.view.Toggle(s.ledger); return nil }

// openChanges shows what differs now; where that cannot be told, what each call changed.
func (s *sheets) openChanges() tea.Cmd {
	if s.net.ports.Net != nil {
		return s.net.open()
	}
	s.view.Toggle(s.changes)
	return nil
}

func (s *sheets) canRefusals() string { return s.refusals.None() }
func (s *sheets) canParts() string    { return s.view.CanParts() }

// canCopy says why there is no file to copy from.
func (s *sheets) canCopy() string {
	if s.view.Shows(s.net.pane) {
		return s.net.can()
	}
	if !s.view.Shows(s.changes) {
		return "only in the changes pane"
	}
	if s.changes.None() {
		return "no file was changed"
	}
	return ""
}

func (s *sheets) copyPath() tea.Cmd {
	if s.view.Shows(s.net.pane) {
		path := s.net.hunk().File.Path
		return s.copy("the path "+path, path)
	}
	f, ok := s.changes.At(s.view.At())
	if !ok {
		return nil
	}
	return s.copy("the path "+f.Path, f.Path)
}

// copyDiff copies all diffs of the file that is looked at, as patches.
func (s *sheets) copyDiff() tea.Cmd {
	if s.view.Shows(s.net.pane) {
		f := s.net.hunk().File
		return s.copy("the diff of "+f.Path, f.Diff)
	}
	f, ok := s.changes.At(s.view.At())
	if !ok || len(f.Diffs) == 0 {
		s.say("no diff of this file is known")
		return nil
	}
	return s.copy("the diff of "+f.Path, f.Patch())
}

// hints are what to press in a pane.
func (s *sheets) hints() []string {
	var hints []string
	if s.canParts() == "" {
		hints = append(hints, s.label(nextPart)+": next")
	}
	if s.view.Shows(s.net.pane) {
		return append(append(hints, s.net.hints()...), s.label(showHelp)+": keys")
	}
	if s.canCopy() == "" {
		hints = append(hints, s.labelOf("pane.copy-path")+": copy path", s.labelOf("pane.copy-diff")+": copy diff")
	}
	return append(hints, s.label(showHelp)+": keys")
}

// keys are those of an open pane.
func (s *sheets) keys(e commonKeys) []binding {
	move := func(id string, a action, b key.Binding, how func(*pane.View, int), n int) binding {
		return binding{id: id, action: a, scope: inView, Binding: b, do: func() tea.Cmd { how(s.view, n); return nil }}
	}
	part := func(id, help string, n int, keys ...string) binding {
		b := move(id, nextPart, ui.Key(help, keys...), (*pane.View).ToPart, n)
		b.can = s.canParts
		return b
	}
	return []binding{
		{id: "pane.close", action: closePane, scope: inView, Binding: ui.Key("close the pane", "esc", "q", "enter"), do: func() tea.Cmd { s.view.Shut(); return nil }},
		{id: "interrupt", action: quit, scope: inView, Binding: ui.Key("stop the agent; twice: quit", "ctrl+c"), do: e.interrupt},
		{id: "help", action: showHelp, scope: inView, Binding: ui.KeyNamed("F1", "all keys", "f1", "?"), do: e.help},
		part("pane.next", "the next file or part", 1, "tab", "n"),
		part("pane.previous", "the file or part before", -1, "shift+tab", "p"),
		{id: "pane.copy-path", action: copyPart, scope: inView, Binding: ui.Key("in changes: copy the path", "y"), can: s.canCopy, do: s.copyPath},
		{id: "pane.copy-diff", action: copyPart, scope: inView, Binding: ui.Key("in changes: copy the diff", "d"), can: s.canCopy, do: s.copyDiff},
		move("page-up", pageUp, ui.KeyNamed("PgUp", "a page up", "pgup", "b"), (*pane.View).ByPages, -1),
		move("page-down", pageDown, ui.KeyNamed("PgDn", "a page down", "pgdown", "space"), (*pane.View).ByPages, 1),
		move("pane.up", lineUp, ui.Key("a row up", "up", "k"), (*pane.View).Scroll, -1),
		move("pane.down", lineDown, ui.Key("a row down", "down", "j"), (*pane.View).Scroll, 1),
		move("pane.top", toTop, ui.KeyNamed("Home", "to the beginning", "home", "g"), (*pane.View).ToEnd, -1),
		move("pane.bottom", toBottom, ui.KeyNamed("End", "to the end", "end", "G"), (*pane.View).ToEnd, 1),
	}
}
