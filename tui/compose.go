package tui

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/tui/edit"
	"adze/tui/prompt"
	"adze/tui/ui"
)

// happened does what a key in the prompt led to.
func (m *model) happened(h prompt.Happened) tea.Cmd {
	if h.Say != "" {
		m.say(h.Say)
	}
	switch {
	case h.Send:
		return m.send()
	case h.Files:
		return m.listFiles()
	case h.Folder != "" && m.ports.Folder != nil:
		return func() tea.Msg {
			base, names, err := m.ports.Folder(context.Background(), h.Folder)
			return prompt.NewFolder(h.Folder, base, names, err)
		}
	}
	return nil
}

// complete follows the prompt after a change.
func (m *model) complete() tea.Cmd {
	files, folder := m.prompt.Complete()
	return m.happened(prompt.Happened{Files: files, Folder: folder})
}

// listFiles looks for files in the background; the answer comes as listed.
func (m *model) listFiles() tea.Cmd {
	if m.ports.Files == nil || !m.prompt.Menu.Look(m.now()) {
		return nil
	}
	return func() tea.Msg {
		paths, err := m.ports.Files(context.Background())
		return prompt.NewListed(paths, err)
	}
}

func (m *model) toggleVim() tea.Cmd {
	if m.prompt.ToggleVim() {
		m.say("vim keys; esc is normal mode, /vim ends them")
		return keep(m, "interface.keys", "vim", writing(m, "interface.keys", "vim"))
	}
	m.say("the usual keys")
	return keep(m, "interface.keys", "usual", writing(m, "interface.keys", "usual"))
}

// inLine does something in the prompt.
func inLine(do func(p *prompt.Line, w int) prompt.Happened) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { return m.happened(do(m.prompt, m.prompt.Inner(m.w))) }
}

// inMenu does something with the completions.
func inMenu(do func(*prompt.Menu)) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { do(m.prompt.Menu); return nil }
}

func ofMenu(can func(*prompt.Menu) string) func(*model) string {
	return func(m *model) string { return can(m.prompt.Menu) }
}

// inEditor changes the editor that has the cursor, and tells what it says.
func inEditor(change func(e *edit.Editor, w int) string) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		if text := change(m.editor()); text != "" {
			m.say(text)
		}
		return nil
	}
}

// menuKeys come before the prompt's own: while completions are shown, these keys are theirs.
func menuKeys() []binding {
	accept := func(p *prompt.Line, _ int) prompt.Happened { return p.Accept() }
	run := func(p *prompt.Line, _ int) prompt.Happened { return p.AcceptOrRun() }
	move := func(by int) func(*prompt.Menu) { return func(u *prompt.Menu) { u.Move(by) } }
	return []binding{
		{id: "complete.take", action: takeChoice, scope: inPrompt, part: completing, Binding: ui.Key("complete the / command or @ file", "tab"), can: ofMenu((*prompt.Menu).Choosable), do: inLine(accept)},
		{id: "complete.run", action: takeChoice, scope: inPrompt, part: completing, Binding: ui.Key("on a completion: take it", "enter"), can: ofMenu((*prompt.Menu).Choosable), do: inLine(run)},
		{id: "complete.close", action: closePane, scope: inPrompt, part: completing, Binding: ui.Key("close the completions", "esc"), can: ofMenu((*prompt.Menu).Shown), do: inMenu((*prompt.Menu).Close)},
		{id: "complete.up", action: lineUp, scope: inPrompt, part: completing, Binding: ui.Key("the completion above", "up", "ctrl+p"), can: ofMenu((*prompt.Menu).Choosable), do: inMenu(move(-1))},
		{id: "complete.down", action: lineDown, scope: inPrompt, part: completing, Binding: ui.Key("the completion below", "down", "ctrl+n"), can: ofMenu((*prompt.Menu).Choosable), do: inMenu(move(1))},
	}
}

// edited is what the user's own editor left.
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

// edit opens the prompt, pastes unfolded, in the user's own editor.
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

// longestPath bounds what is looked at as a path (PATH_MAX of Linux).
const longestPath = 4096

// drop finds out in the background whether a pasted text is a file that was dropped on the
// terminal.
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
	switch {
	case !ok:
		m.say(arg + " was not found; check the path")
		return nil
	case file.Attach == "":
		m.say(arg + " is no picture or PDF that can be attached")
		return nil
	}
	m.prompt.Insert(m.prompt.Attach(file.Attach) + " ")
	m.say(arg + " goes with your next message")
	return nil
}
