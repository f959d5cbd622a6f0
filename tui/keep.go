package tui

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"adze/session/api"
	"adze/tui/list"
)

// keeper offers to save a setting in the user's configuration.
type keeper struct {
	host
	ports  *api.Ports
	picker *list.List
	info   *Info
}

// ask asks whether a setting applies to later sessions and calls next with the answer. It does not
// ask if the value is already saved or cannot be saved.
func (k *keeper) ask(name, value string, next func(keep bool) tea.Cmd) tea.Cmd {
	if k.ports.Keep == nil || k.ports.CurrentValue == nil || k.ports.CurrentValue(name) == value {
		return next(false)
	}
	k.picker.Ask("keep as default? "+value, []list.Choice{
		{ID: "now", Label: "for now"},
		{ID: "keep", Label: "keep", Note: "in " + k.configuration() + "; comments stay"},
	}, func(c list.Choice) tea.Cmd { return next(c.ID == "keep") })
	return nil
}

// offer asks whether to save a setting, and saves it.
func (k *keeper) offer(name, value string) tea.Cmd {
	return k.ask(name, value, func(keep bool) tea.Cmd {
		if !keep {
			return nil
		}
		if err := k.ports.Keep(name, value); err != nil {
			k.showMessage("not kept: " + err.Error())
		} else {
			k.showMessage(value + " is kept in " + k.configuration())
		}
		return nil
	})
}

func (k *keeper) configuration() string { return cmp.Or(k.info.Config, "the configuration") }
