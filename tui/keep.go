package tui

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"adze/tui/choose"
)

// The answers of the question whether a choice is kept.
const (
	forNow = "now"
	kept   = "keep"
)

// keep asks once whether a choice holds for later sessions too, and does next in any case. Nothing is asked where that is
// so already, or where nothing can be written.
func keep(m *model, name, value string, next func() tea.Cmd) tea.Cmd {
	if m.ports.Keep == nil || m.ports.Kept == nil || m.ports.Kept(name) == value {
		return next()
	}
	at := cmp.Or(m.info.Config, "the configuration")
	m.picker.Begin(value+": keep as default?", []choose.Choice{
		{ID: forNow, Label: "for now"},
		{ID: kept, Label: "keep", Note: "into " + at + "; comments stay"},
	}, func(c choose.Choice) tea.Cmd {
		if c.ID == kept {
			if err := m.ports.Keep(name, value); err != nil {
				m.say("not kept: " + err.Error())
				return nil
			}
			m.say(value + " is kept in " + at)
		}
		return next()
	})
	return nil
}

// nothing comes after what was chosen.
func nothing() tea.Cmd { return nil }
