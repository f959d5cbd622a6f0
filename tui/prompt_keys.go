package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// happened does what a key in the prompt led to.
func (m *model) happened(h happened) tea.Cmd {
	if h.say != "" {
		m.say(h.say)
	}
	switch {
	case h.send:
		return m.send()
	case h.files:
		return m.listFiles()
	}
	return nil
}

// complete follows the prompt after a change.
func (m *model) complete() tea.Cmd { return m.happened(happened{files: m.prompt.complete()}) }

// listFiles looks for files in the background; the answer comes as listed.
func (m *model) listFiles() tea.Cmd {
	if m.ports.Files == nil || !m.prompt.menu.look(m.now()) {
		return nil
	}
	return func() tea.Msg {
		paths, err := m.ports.Files(context.Background())
		return newListed(paths, err)
	}
}

func (m *model) toggleVim() tea.Cmd {
	if m.prompt.toggleVim() {
		m.say(`vim keys; esc is normal mode, /vim ends them; to keep them: "interface": {"keys": "vim"}`)
	} else {
		m.say("the usual keys")
	}
	return nil
}

// inLine does something in the prompt.
func inLine(do func(p *prompt, w int) happened) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { return m.happened(do(m.prompt, m.prompt.inner(m.w))) }
}

// inMenu does something with the completions.
func inMenu(do func(*menu)) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { do(m.prompt.menu); return nil }
}

func ofMenu(can func(*menu) string) func(*model) string {
	return func(m *model) string { return can(m.prompt.menu) }
}

// inEditor changes the editor that has the cursor, and tells what it says.
func inEditor(change func(e *editor, w int) string) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		if text := change(m.editor()); text != "" {
			m.say(text)
		}
		return nil
	}
}

// menuKeys come before the prompt's own: while completions are shown, these keys are theirs.
func menuKeys() []binding {
	accept := func(p *prompt, _ int) happened { return p.accept() }
	run := func(p *prompt, _ int) happened { return p.acceptOrRun() }
	move := func(by int) func(*menu) { return func(u *menu) { u.move(by) } }
	return []binding{
		{action: takeChoice, scope: inPrompt, part: completing, keys: []string{"tab"}, help: "complete the / command or @ file", can: ofMenu((*menu).choosable), do: inLine(accept)},
		{action: takeChoice, scope: inPrompt, part: completing, keys: []string{"enter"}, help: "on a completion: take it", can: ofMenu((*menu).choosable), do: inLine(run)},
		{action: closePane, scope: inPrompt, part: completing, keys: []string{"esc"}, help: "close the completions", can: ofMenu((*menu).shown), do: inMenu((*menu).close)},
		{action: lineUp, scope: inPrompt, part: completing, keys: []string{"up", "ctrl+p"}, help: "the completion above", can: ofMenu((*menu).choosable), do: inMenu(move(-1))},
		{action: lineDown, scope: inPrompt, part: completing, keys: []string{"down", "ctrl+n"}, help: "the completion below", can: ofMenu((*menu).choosable), do: inMenu(move(1))},
	}
}
