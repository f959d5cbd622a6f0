package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"adze/tui/edit"
	"adze/tui/prompt"
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
	}
	return nil
}

// complete follows the prompt after a change.
func (m *model) complete() tea.Cmd { return m.happened(prompt.Happened{Files: m.prompt.Complete()}) }

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
		m.say(`vim keys; esc is normal mode, /vim ends them; to keep them: "interface": {"keys": "vim"}`)
	} else {
		m.say("the usual keys")
	}
	return nil
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
		{action: takeChoice, scope: inPrompt, part: completing, keys: []string{"tab"}, help: "complete the / command or @ file", can: ofMenu((*prompt.Menu).Choosable), do: inLine(accept)},
		{action: takeChoice, scope: inPrompt, part: completing, keys: []string{"enter"}, help: "on a completion: take it", can: ofMenu((*prompt.Menu).Choosable), do: inLine(run)},
		{action: closePane, scope: inPrompt, part: completing, keys: []string{"esc"}, help: "close the completions", can: ofMenu((*prompt.Menu).Shown), do: inMenu((*prompt.Menu).Close)},
		{action: lineUp, scope: inPrompt, part: completing, keys: []string{"up", "ctrl+p"}, help: "the completion above", can: ofMenu((*prompt.Menu).Choosable), do: inMenu(move(-1))},
		{action: lineDown, scope: inPrompt, part: completing, keys: []string{"down", "ctrl+n"}, help: "the completion below", can: ofMenu((*prompt.Menu).Choosable), do: inMenu(move(1))},
	}
}
