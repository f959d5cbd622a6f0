package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	tuilist "adze/tui/list"
	"adze/tui/ui"
)

// lists handles the list to choose from, whichever feature opened it.
type lists struct {
	host
	picker *tuilist.List
}

// follow loads a preview once a row has been marked for tuilist.PeekAfter.
func (l *lists) follow() tea.Cmd {
	if due := l.picker.Follow(); due != nil {
		return l.later(tuilist.PeekAfter, due)
	}
	return nil
}

// seek searches the rows' contents once the user stops typing.
func (l *lists) seek() tea.Cmd {
	if due := l.picker.Seek(); due != nil {
		return l.later(tuilist.SearchAfter, due)
	}
	return nil
}

func (l *lists) hints() []string {
	hints := []string{l.labelOf("list.choose") + ": select"}
	if l.picker.CanPickCopy() == "" {
		hints = append(hints, l.label(openCopy)+": open a copy")
	}
	if l.picker.Ended != nil {
		hints = []string{l.labelOf("list.choose") + ": show"}
		if l.picker.CanPickEnd() == "" {
			hints = append(hints, l.label(endMarked)+": end")
		}
	}
	return append(hints, l.labelOf("list.close")+": close")
}

func (l *lists) keys() []binding {
	list := func(id string, a action, b key.Binding, can func(*tuilist.List) string, do func(*tuilist.List) tea.Cmd) binding {
		out := binding{id: id, action: a, scope: inPicker, Binding: b, run: func() tea.Cmd { return do(l.picker) }}
		if can != nil {
			out.can = func() string { return can(l.picker) }
		}
		return out
	}
	move := func(by int) func(*tuilist.List) tea.Cmd {
		return func(p *tuilist.List) tea.Cmd { p.Move(by); return nil }
	}
	shut := func(p *tuilist.List) tea.Cmd { p.Close(); return nil }
	return []binding{
		list("list.choose", takeChoice, ui.Key("choose", "enter"), (*tuilist.List).CanPick, (*tuilist.List).Pick),
		list("list.copy", openCopy, ui.Key("go on in a copy of the marked session", "ctrl+f"), (*tuilist.List).CanPickCopy, (*tuilist.List).PickCopy),
		list("list.end", endMarked, ui.Key("end the marked job, after a question", "ctrl+x"), (*tuilist.List).CanPickEnd, (*tuilist.List).PickEnd),
		list("list.close", closePane, ui.Key("close without choosing", "esc"), nil, shut),
		list("list.up", lineUp, ui.Key("the one above", "up", "ctrl+p"), nil, move(-1)),
		list("list.down", lineDown, ui.Key("the one below", "down", "ctrl+n"), nil, move(1)),
		list("page-up", pageUp, ui.KeyNamed("PgUp", "ten up", "pgup"), nil, move(-10)),
		list("page-down", pageDown, ui.KeyNamed("PgDn", "ten down", "pgdown"), nil, move(10)),
	}
}
