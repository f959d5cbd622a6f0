package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"adze/internal/safeterm"
	"adze/tui/screen"
)

func canCopy(m *model) string {
	if m.transcript.Len() == 0 {
		return "there is nothing to copy yet"
	}
	return ""
}

// copyKey copies the last answer; pressed again, or where there is none, it asks what to copy.
func (m *model) copyKey() tea.Cmd {
	text := m.transcript.answer()
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
	for _, c := range m.transcript.copyables() {
		if c.kind == what {
			return m.copyText("the last "+what, c.text)
		}
	}
	m.say("there is no " + what + " to copy yet")
	return nil
}

func (m *model) copyText(what, text string) tea.Cmd {
	if len(text) > screen.MaxCopy {
		m.say(fmt.Sprintf("%s has %s: terminals take at most %s", what, size(len(text)), size(screen.MaxCopy)))
		return nil
	}
	m.say(fmt.Sprintf("copied %s (%s), if your terminal allows it", what, size(len(text))))
	clean := safeterm.Clean(text)
	return func() tea.Msg { m.clipboard(clean); return nil }
}

// looksAtChanges says why there is no file to copy from.
func looksAtChanges(m *model) string {
	if !m.view.shows(m.changes) {
		return "only in the pane of changes"
	}
	if m.changes.none() {
		return "no file was changed"
	}
	return ""
}

func (m *model) copyPath() tea.Cmd {
	f, ok := m.changes.at(m.view.at())
	if !ok {
		return nil
	}
	return m.copyText("the path "+f.path, f.path)
}

// copyDiff copies all diffs of the file that is looked at, as patches.
func (m *model) copyDiff() tea.Cmd {
	f, ok := m.changes.at(m.view.at())
	if !ok || len(f.diffs) == 0 {
		m.say("no call said how this file was changed")
		return nil
	}
	return m.copyText("the diff of "+f.path, f.patch())
}

// chooseCopy asks what to copy.
func (m *model) chooseCopy() tea.Cmd {
	all := m.transcript.copyables()
	var items []choice
	for i, c := range all {
		items = append(items, choice{id: fmt.Sprint(i), label: c.what, note: c.note})
	}
	if len(items) == 0 {
		m.say("there is nothing to copy yet")
		return nil
	}
	m.picker.begin("copy what?", items, func(c choice) tea.Cmd {
		for i, it := range all {
			if fmt.Sprint(i) == c.id {
				return m.copyText(it.what, it.text)
			}
		}
		return nil
	})
	return nil
}
