package tui

import (
	tea "charm.land/bubbletea/v2"
)

// leaveFor ends the interface to go on with something else; while the agent works, the person confirms.
func (m *model) leaveFor(n Next) tea.Cmd {
	if !m.turn.running {
		m.next = n
		return tea.Quit
	}
	what := "quit"
	if n != (Next{}) {
		what = "go on with that"
	}
	m.picker.begin("the agent works", []choice{{id: "stay", label: "stay", note: "the agent goes on"},
		{id: "leave", label: "stop the agent and " + what, note: "what it did is saved"}},
		func(c choice) tea.Cmd {
			if c.id == "stay" {
				return nil
			}
			m.next = n
			return m.leave()
		})
	return nil
}
