package tui

import (
	tea "charm.land/bubbletea/v2"
)

// Next says how the person wants to go on after Run: the interface itself cannot exchange its session or model.
// The zero value means that they quit.
type Next struct {
	Session string // the id to open
	New     bool   // a new session in this folder
	Model   string // the model to go on with: provider/name
	Fork    bool   // in a copy of that session
	Demo    bool   // the demo
}

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
