package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/tool"
	"adze/tui/choose"
)

func canModes(m *model) string {
	if m.ports.SetMode == nil || len(m.ports.Modes) == 0 {
		return "the mode cannot be changed here"
	}
	return ""
}

func (m *model) chooseMode() tea.Cmd {
	var items []choose.Choice
	at := 0
	for i, mode := range m.ports.Modes {
		items = append(items, choose.Choice{ID: mode.Name, Label: mode.Name, Note: mode.Means})
		if mode.Name == m.info.Mode {
			at = i
		}
	}
	m.picker.Begin("permission modes · now "+m.info.Mode, items, func(c choose.Choice) tea.Cmd { return m.toMode(c.ID) })
	m.picker.Move(at)
	return nil
}

// toMode changes the mode for calls that are judged from now on.
func (m *model) toMode(name string) tea.Cmd {
	if err := m.ports.SetMode(name); err != nil {
		m.say("error: " + err.Error())
		return nil
	}
	m.info.Mode = name
	m.status.InMode(name)
	m.say("permission mode: " + name)
	return nil
}

func canCancelCall(m *model) string {
	switch {
	case m.ports.CancelCall == nil:
		return "single calls cannot be aborted here"
	case len(m.activity.Started()) == 0:
		return "no call runs"
	}
	return ""
}

// cancelCall aborts the one call that runs, or asks which one; the agent goes on.
func (m *model) cancelCall() tea.Cmd {
	running := m.activity.Started()
	if len(running) == 1 {
		return m.cancelOne(running[0].ID, running[0].Name)
	}
	var items []choose.Choice
	for _, c := range running {
		label := c.Name
		if c.Parent != "" {
			label = "↳ " + label
		}
		items = append(items, choose.Choice{ID: string(c.ID), Label: label, Note: c.Title})
	}
	m.picker.Begin("abort which call?", items, func(c choose.Choice) tea.Cmd {
		return m.cancelOne(tool.CallID(c.ID), strings.TrimPrefix(c.Label, "↳ "))
	})
	return nil
}

func (m *model) cancelOne(id tool.CallID, name string) tea.Cmd {
	if m.ports.CancelCall(id) {
		m.say("aborting " + name + "; the agent goes on")
	} else {
		m.say(name + " has ended already")
	}
	return nil
}

// named finds what a command's argument means among names: itself, or the only one that it begins.
func named(arg string, names []string) (string, bool) {
	var found []string
	for _, n := range names {
		if n == arg {
			return n, true
		}
		if strings.HasPrefix(n, arg) {
			found = append(found, n)
		}
	}
	if len(found) == 1 {
		return found[0], true
	}
	return "", false
}

func canSearch(m *model) string {
	if len(m.prompt.Recent()) == 0 {
		return "you have not sent anything here yet"
	}
	return ""
}

// search lets the person choose from what they wrote, newest first; what is in the prompt narrows it.
func (m *model) search() tea.Cmd {
	var items []choose.Choice
	for _, text := range m.prompt.Recent() {
		items = append(items, choose.Choice{ID: text, Label: strings.Join(strings.Fields(text), " ")})
	}
	m.picker.Begin("what you wrote before", items, func(c choose.Choice) tea.Cmd {
		m.prompt.Set(c.ID)
		return m.complete()
	})
	if !strings.Contains(m.prompt.Text, "\n") {
		m.picker.NarrowTo(m.prompt.Text)
	}
	return nil
}
