package tui

import (
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/tui/screen"
)

// edited is what the person's own editor left.
type edited struct {
	text string
	err  error
}

// outsider runs an editor while Bubble Tea reads no keys and the screen belongs to it.
type outsider struct {
	screen *screen.Screen
	edit   func(string) (string, error)
	text   string
	result edited
}

var _ tea.ExecCommand = (*outsider)(nil)

// Run implements tea.ExecCommand.
func (e *outsider) Run() error {
	e.screen.Suspend()
	e.result.text, e.result.err = e.edit(e.text)
	return e.screen.Resume()
}

// SetStdin does nothing: the editor takes the terminal from the program.
func (e *outsider) SetStdin(io.Reader) {}

// SetStdout does nothing, likewise.
func (e *outsider) SetStdout(io.Writer) {}

// SetStderr does nothing, likewise.
func (e *outsider) SetStderr(io.Writer) {}

func outside(s *screen.Screen, edit func(string) (string, error), text string) tea.Cmd {
	e := &outsider{screen: s, edit: edit, text: text}
	return tea.Exec(e, func(err error) tea.Msg {
		if e.result.err == nil {
			e.result.err = err
		}
		return e.result
	})
}

func canEdit(m *model) string {
	if m.external == nil {
		return "no editor can be started here"
	}
	return ""
}

// edit opens the prompt, pastes unfolded, in the person's own editor.
func (m *model) edit() tea.Cmd { return m.external(m.prompt.unfolded()) }

func (m *model) edited(e edited) {
	m.w, m.h = m.foreground()
	if e.err != nil {
		m.say("error: " + e.err.Error())
		return
	}
	m.prompt.set(strings.TrimRight(e.text, "\n"))
}
