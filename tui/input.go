package tui

import (
	tea "charm.land/bubbletea/v2"
)

// key obeys the key table. Keys that write go to the editor that has the cursor.
func (m *model) key(msg tea.KeyPressMsg) tea.Cmd {
	s := m.scope()
	m.said = ""
	if m.dialog.open() && s != inDialog && s != inReason {
		m.dialog.holdOff() // still at something else: the dialog waits
	}
	if s == inPrompt {
		if h, taken := m.prompt.press(stroke{msg.String(), msg.Text}, m.prompt.inner(m.w)); taken {
			m.armed, m.stopped = send, false
			return tea.Batch(m.happened(h), m.guardTimer(), m.follow())
		}
	}
	b, reason := m.keys.find(m, s, msg.String())
	if b != nil && (s == inDialog || s == inReason) && m.small() && b.action != stop && b.action != quit {
		b, reason = nil, "the window is too small for the question"
	}
	if b == nil || b.action != m.armed {
		m.armed = send
	}
	if b == nil || b.action != stop {
		m.stopped = false
	}
	cmds := []tea.Cmd{m.guardTimer()}
	switch {
	case b != nil:
		cmds = append(cmds, b.do(m))
	case typed(msg.Text) && s.writes():
		e, _ := m.editor()
		e.insert(msg.Text)
	case reason != "":
		m.say(reason)
	}
	m.prompt.settle()
	return tea.Batch(append(cmds, m.written(s))...)
}

// small reports a window in which nothing can be seen, so that nothing can be answered in it.
func (m *model) small() bool { return m.w < minWidth || m.h < minHeight }

// resize takes the window's size. A question that could not be seen before holds off keys as a new one does.
func (m *model) resize(w, h int) tea.Cmd {
	hidden := m.small()
	m.w, m.h = w, h
	if !hidden || m.small() || !m.dialog.open() {
		return nil
	}
	m.dialog.holdOff()
	return m.guardTimer()
}

// written follows a change of what the person writes.
func (m *model) written(s scope) tea.Cmd {
	switch {
	case s == inPrompt && m.prompt.menu.stale(&m.prompt.editor):
		return m.complete()
	case s == inPicker && m.picker.stale():
		m.picker.narrow()
	}
	return m.follow()
}

// scope is whose keys act.
func (m *model) scope() scope {
	switch {
	case m.help.open:
		return inHelp
	case m.dialog.ready() && m.dialog.reasoning:
		return inReason
	case m.dialog.ready():
		return inDialog
	case m.picker.open:
		return inPicker
	case m.view.open():
		return inView
	case m.first != nil:
		return inFirst
	}
	return inPrompt
}

// under is the scope below help.
func (m *model) under() scope {
	if m.dialog.open() {
		return inDialog
	}
	if m.first != nil {
		return inFirst
	}
	return inPrompt
}

// guardTimer draws again when the open dialog begins to take keys.
func (m *model) guardTimer() tea.Cmd {
	if !m.dialog.open() || m.dialog.ready() {
		return nil
	}
	return m.after(guard, redraw{})
}

func (m *model) say(text string) { m.said = text }

// paste never sends and never answers.
func (m *model) paste(text string) tea.Cmd {
	s := m.scope()
	if s == inFirst {
		return nil
	}
	if s == inReason || s == inPicker || s == inHelp {
		e, _ := m.editor()
		e.insert(text)
		return m.written(s)
	}
	m.prompt.paste(text)
	return tea.Batch(m.complete(), m.drop(text))
}

func (m *model) wheel(b tea.MouseButton) {
	by := map[tea.MouseButton]int{tea.MouseWheelUp: -3, tea.MouseWheelDown: 3}[b]
	if m.help.open {
		m.help.scroll(by)
		return
	}
	switch m.scope() {
	case inPicker:
		m.picker.move(by / 3)
	case inView:
		m.view.scroll(by)
	case inFirst:
		m.first.scroll(by)
	default:
		m.transcript.scroll(m.draw, by)
	}
}
