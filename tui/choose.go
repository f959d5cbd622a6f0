package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/tool"
)

func canModes(m *model) string {
	if m.ports.SetMode == nil || len(m.ports.Modes) == 0 {
		return "the mode cannot be changed here"
	}
	return ""
}

func (m *model) chooseMode() tea.Cmd {
	var items []choice
	at := 0
	for i, mode := range m.ports.Modes {
		items = append(items, choice{id: mode.Name, label: mode.Name, note: mode.Means})
		if mode.Name == m.info.Mode {
			at = i
		}
	}
	m.picker.begin("permission modes · now "+m.info.Mode, items, func(c choice) tea.Cmd { return m.toMode(c.id) })
	m.picker.move(at)
	return nil
}

// toMode changes the mode for calls that are judged from now on.
func (m *model) toMode(name string) tea.Cmd {
	if err := m.ports.SetMode(name); err != nil {
		m.say("error: " + err.Error())
		return nil
	}
	m.info.Mode = name
	m.status.inMode(name)
	m.say("permission mode: " + name)
	return nil
}

func canCancelCall(m *model) string {
	switch {
	case m.ports.CancelCall == nil:
		return "single calls cannot be aborted here"
	case len(m.activity.started()) == 0:
		return "no call runs"
	}
	return ""
}

// cancelCall aborts the one call that runs, or asks which one; the agent goes on.
func (m *model) cancelCall() tea.Cmd {
	running := m.activity.started()
	if len(running) == 1 {
		return m.cancelOne(running[0].id, running[0].name)
	}
	var items []choice
	for _, c := range running {
		label := c.name
		if c.parent != "" {
			label = "↳ " + label
		}
		items = append(items, choice{id: string(c.id), label: label, note: c.title})
	}
	m.picker.begin("abort which call?", items, func(c choice) tea.Cmd {
		return m.cancelOne(tool.CallID(c.id), strings.TrimPrefix(c.label, "↳ "))
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
	if len(m.prompt.recent()) == 0 {
		return "you have not sent anything here yet"
	}
	return ""
}

// search lets the person choose from what they wrote, newest first; what is in the prompt narrows it.
func (m *model) search() tea.Cmd {
	var items []choice
	for _, text := range m.prompt.recent() {
		items = append(items, choice{id: text, label: strings.Join(strings.Fields(text), " ")})
	}
	m.picker.begin("what you wrote before", items, func(c choice) tea.Cmd {
		m.prompt.set(c.id)
		return m.complete()
	})
	if !strings.Contains(m.prompt.text, "\n") {
		m.picker.narrowTo(m.prompt.text)
	}
	return nil
}
