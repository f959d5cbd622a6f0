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

// keep asks once whether a choice holds for later sessions too, and goes on with the answer. Nothing is asked where that is
// so already, or where nothing can be written.
func keep(m *model, name, value string, next func(keep bool) tea.Cmd) tea.Cmd {
	if m.ports.Keep == nil || m.ports.Kept == nil || m.ports.Kept(name) == value {
		return next(false)
	}
	m.picker.Begin(value+": keep as default?", []choose.Choice{
		{ID: forNow, Label: "for now"},
		{ID: kept, Label: "keep", Note: "into " + configuration(m) + "; comments stay"},
	}, func(c choose.Choice) tea.Cmd { return next(c.ID == kept) })
	return nil
}

// writing writes a choice down when the person says so.
func writing(m *model, name, value string) func(keep bool) tea.Cmd {
	return func(keep bool) tea.Cmd {
		if !keep {
			return nil
		}
		if err := m.ports.Keep(name, value); err != nil {
			m.say("not kept: " + err.Error())
		} else {
			m.say(value + " is kept in " + configuration(m))
		}
		return nil
	}
}

func configuration(m *model) string { return cmp.Or(m.info.Config, "the configuration") }
