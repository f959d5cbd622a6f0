package tui

import (
	tea "charm.land/bubbletea/v2"

	"adze/tui/choose"
)

func (m *model) closePicker() tea.Cmd { m.picker.Close(); return nil }

func pickedBy(pick func(*choose.List) tea.Cmd) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { return pick(m.picker) }
}

func ofPicker(can func(*choose.List) string) func(*model) string {
	return func(m *model) string { return can(m.picker) }
}

func movePicker(by int) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { m.picker.Move(by); return nil }
}

func pickerKeys() []binding {
	return []binding{
		{action: takeChoice, scope: inPicker, keys: []string{"enter"}, help: "choose", can: ofPicker((*choose.List).CanPick), do: pickedBy((*choose.List).Pick)},
		{action: openCopy, scope: inPicker, keys: []string{"ctrl+f"}, help: "go on in a copy of the marked session", can: ofPicker((*choose.List).CanPickCopy), do: pickedBy((*choose.List).PickCopy)},
		{action: closePane, scope: inPicker, keys: []string{"esc"}, help: "close without choosing", do: (*model).closePicker},
		{action: showHelp, scope: inPicker, keys: []string{"f1"}, label: "F1", help: "all keys", do: (*model).openHelp},
		{action: quit, scope: inPicker, keys: []string{"ctrl+c"}, help: "stop the agent; twice: quit", do: (*model).interrupt},
		{action: lineUp, scope: inPicker, keys: []string{"up", "ctrl+p"}, help: "the one above", do: movePicker(-1)},
		{action: lineDown, scope: inPicker, keys: []string{"down", "ctrl+n"}, help: "the one below", do: movePicker(1)},
		{action: pageUp, scope: inPicker, keys: []string{"pgup"}, label: "PgUp", help: "ten up", do: movePicker(-10)},
		{action: pageDown, scope: inPicker, keys: []string{"pgdown"}, label: "PgDn", help: "ten down", do: movePicker(10)},
	}
}

// follow has a list look into the row that is marked, once it is marked for a while.
func (m *model) follow() tea.Cmd {
	if due, begins := m.picker.Follow(); begins {
		return m.after(choose.PeekAfter, due)
	}
	return nil
}
