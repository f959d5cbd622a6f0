package tui

import (
	tea "charm.land/bubbletea/v2"

	"adze/tui/choose"
	"adze/tui/port"
)

// leaveFor ends the interface to go on with something else; while the agent works, the person confirms.
func (m *model) leaveFor(n port.Next) tea.Cmd {
	if !m.turn.running {
		m.next = n
		return tea.Quit
	}
	what := "quit"
	if n != (port.Next{}) {
		what = "go on with that"
	}
	m.picker.Begin("the agent works", []choose.Choice{{ID: "stay", Label: "stay", Note: "the agent goes on"},
		{ID: "leave", Label: "stop the agent and " + what, Note: "what it did is saved"}},
		func(c choose.Choice) tea.Cmd {
			if c.ID == "stay" {
				return nil
			}
			m.next = n
			return m.leave()
		})
	return nil
}
