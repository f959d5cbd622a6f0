package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// edited is what the person's own editor left.
type edited struct {
	text string
	err  error
}

func canEdit(m *model) string {
	if m.external == nil {
		return "no editor can be started here"
	}
	return ""
}

// edit opens the prompt, pastes unfolded, in the person's own editor.
func (m *model) edit() tea.Cmd { return m.external(m.prompt.Unfolded()) }

func (m *model) edited(e edited) {
	m.w, m.h = m.foreground()
	if e.err != nil {
		m.say("error: " + e.err.Error())
		return
	}
	if text := strings.TrimRight(e.text, "\n"); text != strings.TrimRight(m.prompt.Unfolded(), "\n") {
		m.prompt.Put(text)
	}
}
