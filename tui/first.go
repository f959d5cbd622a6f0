package tui

import (
	tea "charm.land/bubbletea/v2"

	"adze/internal/text/safeterm"
	"adze/tui/api"
	"adze/tui/firstrun"
	"adze/tui/list"
	"adze/tui/ui"
)

func ofFirst(can func(*firstrun.Screen) string) func(*model) string {
	return func(m *model) string {
		if m.first == nil {
			return "a model is there"
		}
		return can(m.first)
	}
}

func inFirstScreen(move func(f *firstrun.Screen, by int), by int) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { move(m.first, by); return nil }
}

// takeStep does the chosen thing: it leads somewhere, or its command is copied.
func takeStep(m *model) tea.Cmd {
	s := m.first.Marked()
	if s.Key {
		return chooseKey(m)
	}
	if s.Next != (api.Next{}) {
		m.next = s.Next
		return tea.Quit
	}
	m.clipboard(safeterm.Name(s.Do))
	m.say("copied; run it in a shell, then press " + m.keys.label(lookAgain) + " here")
	return nil
}

// chooseKey asks whose key it is, then for the key.
func chooseKey(m *model) tea.Cmd {
	var items []list.Choice
	for _, name := range m.first.Keys {
		items = append(items, list.Choice{ID: name, Label: name})
	}
	m.picker.Begin("whose key is it?", items, func(c list.Choice) tea.Cmd {
		m.first.Ask(c.ID)
		return nil
	})
	return nil
}

func canKey(f *firstrun.Screen) string {
	if len(f.Keys) == 0 || f.Keep == nil {
		return "keys are not taken here"
	}
	return ""
}

// keyKept looks again with the key that was given.
func keyKept(m *model, k firstrun.Kept) tea.Cmd {
	say := m.first.Kept(k)
	if say == "" {
		return nil
	}
	m.say(say)
	return m.first.Search()
}

func startDemo(m *model) tea.Cmd {
	m.first.ToDemo()
	return takeStep(m)
}

func quitFirst(m *model) tea.Cmd { m.next = api.Next{}; return tea.Quit }

func firstKeys() []binding {
	return []binding{
		{id: "first.do", action: takeChoice, scope: inFirst, Binding: ui.Key("do it: go on, or copy the command", "enter"), can: ofFirst((*firstrun.Screen).CanStep), do: takeStep},
		{id: "first.up", action: lineUp, scope: inFirst, Binding: ui.Key("the step above", "up", "k", "shift+tab"), do: inFirstScreen((*firstrun.Screen).Move, -1)},
		{id: "first.down", action: lineDown, scope: inFirst, Binding: ui.Key("the step below", "down", "j", "tab"), do: inFirstScreen((*firstrun.Screen).Move, 1)},
		{id: "first.look", action: lookAgain, scope: inFirst, Binding: ui.Key("look again, after a change", "r"), can: ofFirst((*firstrun.Screen).CanLook), do: func(m *model) tea.Cmd { return m.first.Search() }},
		{id: "first.demo", action: takeChoice, scope: inFirst, Binding: ui.Key("watch the demo", "d"), can: ofFirst((*firstrun.Screen).CanDemo), do: startDemo},
		{id: "model", action: openPane, scope: inFirst, Binding: ui.KeyNamed("F6", "models, and why others cannot be used", "f6", "m"), can: canModels, do: (*model).chooseModel},
		{id: "first.key", action: enterKey, scope: inFirst, Binding: ui.Key("enter a key", "e"), can: ofFirst(canKey), do: chooseKey},
		{id: "page-up", action: pageUp, scope: inFirst, Binding: ui.KeyNamed("PgUp", "see more", "pgup"), do: inFirstScreen((*firstrun.Screen).Scroll, -8)},
		{id: "page-down", action: pageDown, scope: inFirst, Binding: ui.KeyNamed("PgDn", "see more", "pgdown", "space"), do: inFirstScreen((*firstrun.Screen).Scroll, 8)},
		{id: "help", action: showHelp, scope: inFirst, Binding: ui.KeyNamed("F1", "all keys", "f1", "?"), do: (*model).openHelp},
		{id: "redraw", action: drawAgain, scope: inFirst, Binding: ui.Key("draw the screen again", "ctrl+l"), do: (*model).drawAgain},
		{id: "first.quit", action: quit, scope: inFirst, Binding: ui.Key("quit", "q", "esc", "ctrl+c", "ctrl+d"), do: quitFirst},
	}
}

// keyKeys are those of the line in which a key is written.
func keyKeys() []binding {
	return []binding{
		{id: "key.give", action: send, scope: inKey, Binding: ui.Key("have the key checked and kept", "enter"), can: ofFirst((*firstrun.Screen).CanKeep), do: func(m *model) tea.Cmd { return m.first.Give() }},
		{id: "key.back", action: closePane, scope: inKey, Binding: ui.Key("back, without the key", "esc"), do: func(m *model) tea.Cmd { m.first.Drop(); return nil }},
		{id: "interrupt", action: quit, scope: inKey, Binding: ui.Key("quit", "ctrl+c"), do: quitFirst},
		{id: "help", action: showHelp, scope: inKey, Binding: ui.KeyNamed("F1", "all keys", "f1"), do: (*model).openHelp},
	}
}
