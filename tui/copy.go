package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"adze/internal/safeterm"
	"adze/tui/screen"
)

// answer is the last one of the model; empty: there is none.
func (t *transcript) answer() string {
	for i := len(t.entries) - 1; i >= 0; i-- {
		if p, ok := t.entries[i].(*proseEntry); ok && !p.reasoning && p.Len() > 0 {
			return p.String()
		}
	}
	return ""
}

func canCopy(m *model) string {
	if len(m.transcript.entries) == 0 {
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
