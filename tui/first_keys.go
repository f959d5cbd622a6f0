package tui

import (
	tea "charm.land/bubbletea/v2"

	"adze/internal/safeterm"
	"adze/tui/firstrun"
	"adze/tui/look"
	"adze/tui/port"
	"adze/tui/screen"
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
func (m *model) takeStep() tea.Cmd {
	s := m.first.Marked()
	if s.Next != (port.Next{}) {
		m.next = s.Next
		return tea.Quit
	}
	m.clipboard(safeterm.Name(s.Do))
	m.say("copied; run it in a shell, then press " + m.keys.label(lookAgain) + " here")
	return nil
}

func (m *model) startDemo() tea.Cmd {
	m.first.ToDemo()
	return m.takeStep()
}

func (m *model) quitFirst() tea.Cmd { m.next = port.Next{}; return tea.Quit }

func firstKeys() []binding {
	return []binding{
		{action: takeChoice, scope: inFirst, keys: []string{"enter"}, help: "do it: go on, or copy the command", can: ofFirst((*firstrun.Screen).CanStep), do: (*model).takeStep},
		{action: lineUp, scope: inFirst, keys: []string{"up", "k", "shift+tab"}, help: "the step above", do: inFirstScreen((*firstrun.Screen).Move, -1)},
		{action: lineDown, scope: inFirst, keys: []string{"down", "j", "tab"}, help: "the step below", do: inFirstScreen((*firstrun.Screen).Move, 1)},
		{action: lookAgain, scope: inFirst, keys: []string{"r"}, help: "look again, after a change", can: ofFirst((*firstrun.Screen).CanLook), do: func(m *model) tea.Cmd { return m.first.Search() }},
		{action: takeChoice, scope: inFirst, keys: []string{"d"}, help: "watch the demo", can: ofFirst((*firstrun.Screen).CanDemo), do: (*model).startDemo},
		{action: openPane, scope: inFirst, keys: []string{"f6", "m"}, label: "F6", help: "models, and why others cannot be used", can: canModels, do: (*model).chooseModel},
		{action: pageUp, scope: inFirst, keys: []string{"pgup"}, label: "PgUp", help: "see more", do: inFirstScreen((*firstrun.Screen).Scroll, -8)},
		{action: pageDown, scope: inFirst, keys: []string{"pgdown", "space"}, label: "PgDn", help: "see more", do: inFirstScreen((*firstrun.Screen).Scroll, 8)},
		{action: showHelp, scope: inFirst, keys: []string{"f1", "?"}, label: "F1", help: "all keys", do: (*model).openHelp},
		{action: drawAgain, scope: inFirst, keys: []string{"ctrl+l"}, help: "draw the screen again", do: (*model).drawAgain},
		{action: quit, scope: inFirst, keys: []string{"q", "esc", "ctrl+c", "ctrl+d"}, help: "quit", do: (*model).quitFirst},
	}
}

// drawFirst draws the screen, or the list that was opened from it.
func (m *model) drawFirst(c *look.Canvas, f *screen.Frame) {
	all := look.At(0, 0, m.w, m.h-1)
	if !m.picker.Open {
		c.Put(all, m.first.Render(m.info.Version, all.W, all.H))
		return
	}
	rows, x, y := m.picker.Render(all.W, all.H)
	c.Put(all, rows)
	f.Cursor, f.CursorX, f.CursorY = true, min(x, m.w-1), y
}
