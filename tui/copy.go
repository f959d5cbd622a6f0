package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/safeterm"
	"adze/tui/list"
	"adze/tui/screen"
	"adze/tui/ui"
)

func canCopy(m *model) string {
	if m.transcript.Len() == 0 {
		return "there is nothing to copy yet"
	}
	return ""
}

// copyKey copies the last answer; pressed again, or where there is none, it asks what to copy.
func (m *model) copyKey() tea.Cmd {
	text := m.transcript.Answer()
	if m.armed == copyLast || text == "" {
		return m.chooseCopy()
	}
	m.armed = copyLast
	m.arming++ // no timer disarms it, only another key
	cmd := m.copyText("the last answer", text)
	m.say(m.said + "; " + m.keys.label(copyLast) + ": more")
	return cmd
}

// copyCommand copies the last answer or code, or asks what.
func (m *model) copyCommand(arg string) tea.Cmd {
	what, ok := named(arg, []string{"answer", "code"})
	switch {
	case arg == "":
		return m.chooseCopy()
	case !ok:
		m.say("what to copy: answer or code; nothing: a list")
		return nil
	}
	for _, c := range m.transcript.Copyables() {
		if c.Kind == what {
			return m.copyText("the last "+what, c.Text)
		}
	}
	m.say("there is no " + what + " to copy yet")
	return nil
}

func (m *model) copyText(what, text string) tea.Cmd {
	if len(text) > screen.MaxCopy {
		m.say(fmt.Sprintf("%s has %s: terminals take at most %s", what, ui.Size(len(text)), ui.Size(screen.MaxCopy)))
		return nil
	}
	m.say(fmt.Sprintf("copied %s (%s), if your terminal allows it", what, ui.Size(len(text))))
	clean := safeterm.Clean(text)
	return func() tea.Msg { m.clipboard(clean); return nil }
}

// looksAtChanges says why there is no file to copy from.
func looksAtChanges(m *model) string {
	if !m.view.Shows(m.changes) {
		return "only in the pane of changes"
	}
	if m.changes.None() {
		return "no file was changed"
	}
	return ""
}

func (m *model) copyPath() tea.Cmd {
	f, ok := m.changes.At(m.view.At())
	if !ok {
		return nil
	}
	return m.copyText("the path "+f.Path, f.Path)
}

// copyDiff copies all diffs of the file that is looked at, as patches.
func (m *model) copyDiff() tea.Cmd {
	f, ok := m.changes.At(m.view.At())
	if !ok || len(f.Diffs) == 0 {
		m.say("no call said how this file was changed")
		return nil
	}
	return m.copyText("the diff of "+f.Path, f.Patch())
}

// chooseCopy asks what to copy.
func (m *model) chooseCopy() tea.Cmd {
	all := m.transcript.Copyables()
	var items []list.Choice
	for i, c := range all {
		items = append(items, list.Choice{ID: fmt.Sprint(i), Label: c.What, Note: c.Note})
	}
	if len(items) == 0 {
		m.say("there is nothing to copy yet")
		return nil
	}
	m.picker.Begin("copy what?", items, func(c list.Choice) tea.Cmd {
		for i, it := range all {
			if fmt.Sprint(i) == c.ID {
				return m.copyText(it.What, it.Text)
			}
		}
		return nil
	})
	return nil
}
