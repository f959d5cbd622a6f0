package tui

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/tui/prompt"
)

// longestPath bounds what is looked at as a path (PATH_MAX of Linux).
const longestPath = 4096

// drop finds out in the background whether a pasted text is a file that was dropped on the terminal.
func (m *model) drop(text string) tea.Cmd {
	text = strings.TrimSpace(text)
	if m.ports.Drop == nil || len(text) > longestPath || strings.Contains(text, "\n") || !strings.ContainsAny(text, `/\`) {
		return nil
	}
	return func() tea.Msg {
		if file, ok := m.ports.Drop(text); ok {
			return prompt.NewDropped(text, file)
		}
		return nil
	}
}

// pictureTime bounds how long the clipboard may take: its owner may be on another machine.
const pictureTime = 10 * time.Second

// picture is what was on the clipboard.
type picture struct {
	path string
	err  error
}

func canPicture(m *model) string {
	if m.ports.Picture == nil {
		return "pictures cannot be taken from the clipboard here"
	}
	return ""
}

// pastePicture attaches the picture that is on the clipboard.
func (m *model) pastePicture() tea.Cmd {
	m.say("looking at the clipboard…")
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), pictureTime)
		defer cancel()
		path, err := m.ports.Picture(ctx)
		return picture{path, err}
	}
}

func (m *model) pictured(p picture) {
	if p.err != nil {
		m.say("error: " + p.err.Error())
		return
	}
	m.prompt.Insert(m.prompt.Attach(p.path) + " ")
	m.say("the picture goes along with your message")
}

func canAttach(m *model) string {
	if m.ports.Drop == nil {
		return "files cannot be attached here"
	}
	return ""
}

// attachCommand attaches a file to the message that is being written.
func (m *model) attachCommand(arg string) tea.Cmd {
	if arg == "" {
		m.say("write the path of a picture or PDF behind it")
		return nil
	}
	path := arg
	if !filepath.IsAbs(path) {
		path = filepath.Join(m.info.Cwd, path)
	}
	file, ok := m.ports.Drop("'" + path + "'")
	if !ok || file.Attach == "" {
		m.say(arg + " is no picture or PDF that can be attached")
		return nil
	}
	m.prompt.Insert(m.prompt.Attach(file.Attach) + " ")
	m.say(arg + " goes with your next message")
	return nil
}
