package tui

import (
	tea "charm.land/bubbletea/v2"

	"adze/tui/edit"
	"adze/tui/permission"
	"adze/tui/vim"
)

// key obeys the key table. Keys that write go to the editor that has the cursor.
func (m *model) key(msg tea.KeyPressMsg) tea.Cmd {
	s := m.scope()
	m.said = ""
	if m.asks() && !s.answers() {
		m.holdOff() // still at something else: the dialog waits
	}
	if s == inPrompt {
		if h, taken := m.prompt.Press(vim.Stroke{Key: msg.String(), Text: msg.Text}, m.prompt.Inner(m.w)); taken {
			m.armed, m.stopped = send, false
			return tea.Batch(m.happened(h), m.guardTimer(), m.follow())
		}
	}
	b, reason := m.keys.find(m, s, msg.String())
	if b == nil && reason == "" && s.answers() && !s.writes() && edit.Types(msg.Text) {
		m.holdOff() // a message begins: none of its letters answers
		return m.key(msg)
	}
	if b != nil && s.answers() && m.small() && b.action != stop && b.action != quit {
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
	case edit.Types(msg.Text) && s.writes():
		e, _ := m.editor()
		e.Insert(msg.Text)
	case reason != "":
		m.say(reason)
	}
	m.prompt.Settle()
	return tea.Batch(append(cmds, m.written(s))...)
}

// small reports a window in which nothing can be seen, so that nothing can be answered in it.
func (m *model) small() bool { return m.w < minWidth || m.h < minHeight }

// resize takes the window's size. A question that could not be seen before holds off keys as a new
// one does.
func (m *model) resize(w, h int) tea.Cmd {
	hidden := m.small()
	m.w, m.h = w, h
	if !hidden || m.small() || !m.asks() {
		return nil
	}
	m.holdOff()
	return m.guardTimer()
}

// written follows a change of what the user writes.
func (m *model) written(s scope) tea.Cmd {
	switch {
	case s == inPrompt && m.prompt.Menu.Stale(&m.prompt.Editor):
		return m.complete()
	case s == inPicker && m.picker.Stale():
		m.picker.Narrow()
	}
	return tea.Batch(m.seek(), m.follow())
}

// scope is whose keys act.
func (m *model) scope() scope {
	if m.help.Open {
		return inHelp
	}
	return m.under()
}

// under is the same below help, which a dialog that does not take keys yet is under as well.
func (m *model) under() scope {
	switch asks := m.dialog.Ready() || m.help.Open && m.dialog.Open(); {
	case asks:
		return map[permission.Step]scope{permission.AtQuestion: inDialog, permission.AtReason: inReason,
			permission.AtText: inText, permission.AtHunks: inHunks}[m.dialog.Step()]
	case !m.dialog.Open() && (m.inquiry.Ready() || m.help.Open && m.inquiry.Open()):
		return inInquiry
	case m.picker.Open:
		return inPicker
	case m.view.Open():
		return inView
	case m.first != nil && m.first.Asks():
		return inKey
	case m.first != nil:
		return inFirst
	}
	return inPrompt
}

// guardTimer draws again when the open dialog begins to take keys.
func (m *model) guardTimer() tea.Cmd {
	if !m.asks() || m.ready() {
		return nil
	}
	return m.after(permission.Guard, redraw{})
}

func (m *model) say(text string) { m.said = text }

// paste never sends and never answers.
func (m *model) paste(text string) tea.Cmd {
	s := m.scope()
	if s == inFirst {
		return nil
	}
	if s != inPrompt && s.writes() {
		e, _ := m.editor()
		e.Insert(text)
		return m.written(s)
	}
	m.prompt.Paste(text)
	return tea.Batch(m.complete(), m.drop(text))
}

func (m *model) wheel(b tea.MouseButton) {
	by := map[tea.MouseButton]int{tea.MouseWheelUp: -3, tea.MouseWheelDown: 3}[b]
	if m.help.Open {
		m.help.Scroll(by)
		return
	}
	switch m.scope() {
	case inPicker:
		m.picker.Move(by / 3)
	case inView:
		m.view.Scroll(by)
	case inFirst:
		m.first.Scroll(by)
	default:
		m.transcript.Scroll(m.draw, by)
	}
}
