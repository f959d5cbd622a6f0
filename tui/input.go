package tui

import (
	tea "charm.land/bubbletea/v2"

	"adze/tui/edit"
	"adze/tui/vim"
)

// key handles a key by the key table. Text goes to the focused editor.
func (m *model) key(msg tea.KeyPressMsg) tea.Cmd {
	s, had := m.scope(), m.composer.hasMessage()
	m.statusLine.text = ""
	if m.questions.asks() && !s.answers() && !m.questions.keysToMessage {
		m.questions.holdOff() // the user is busy elsewhere: the dialog waits
	}
	if s == inPrompt {
		if h, taken := m.prompt.Press(vim.Stroke{Key: msg.String(), Text: msg.Text}, m.prompt.Inner(m.w)); taken {
			m.twice.forget()
			m.turns.forget()
			m.questions.afterKey(had, true)
			return tea.Batch(m.composer.happened(h), m.lists.follow())
		}
	}
	b, reason := m.keys.find(s, msg.String())
	if b == nil && (reason == "" || s == inView && !m.view.Shows(m.net.pane)) && m.questions.strays(s, msg.Text, m.picker.Fixed) {
		m.questions.keysToMessage = true // none of its letters may answer
		m.view.Shut()
		if m.picker.Fixed {
			m.picker.Close()
		}
		msg.Text = m.questions.inquiry.TakeUnused() + msg.Text
		return m.key(msg)
	}
	if b != nil && s.answers() && m.small() && b.action != stop && b.action != quit {
		b, reason = nil, "the window is too small for the question"
	}
	if b == nil || !m.twice.is(b.action) {
		m.twice.forget()
	}
	if b == nil || b.action != stop {
		m.turns.forget()
	}
	var cmds []tea.Cmd
	switch {
	case b != nil:
		cmds = append(cmds, b.run())
	case edit.Types(msg.Text) && s.writes():
		e, _ := m.editor()
		e.Insert(msg.Text)
		if s == inInquiry {
			m.questions.inquiry.ReplyByNumber()
		}
	case reason != "":
		m.showMessage(reason)
	}
	m.prompt.FixCursor()
	if !s.answers() && s != inHelp {
		m.questions.afterKey(had, b == nil || b.action == editKey)
	}
	return tea.Batch(append(cmds, m.written(s))...)
}

// small reports whether the window is too small to show anything, including a question.
func (m *model) small() bool { return m.w < minWidth || m.h < minHeight }

// resize sets the window size. A question that becomes visible ignores keys for a moment, like a
// new one.
func (m *model) resize(w, h int) {
	hidden := m.small()
	m.w, m.h = w, h
	if hidden && !m.small() {
		m.questions.holdOff()
	}
}

// written handles a change of the edited text.
func (m *model) written(s scope) tea.Cmd {
	switch {
	case s == inPrompt && m.prompt.Menu.Stale(&m.prompt.Editor):
		return m.composer.complete()
	case s == inPicker && m.picker.Stale():
		m.picker.Narrow()
	}
	return tea.Batch(m.lists.seek(), m.lists.follow())
}

// scope returns the scope that receives keys.
func (m *model) scope() scope {
	if m.help.pane.Open {
		return inHelp
	}
	return m.under()
}

// paste inserts text. It never sends and never answers a question.
func (m *model) paste(text string) tea.Cmd {
	s := m.scope()
	if s == inFirst {
		m.prompt.Paste(text)
		return nil
	}
	if s != inPrompt && s.writes() && (s != inInquiry || m.questions.inquiry.Takes(text)) && (s != inPicker || !m.picker.Fixed) {
		e, _ := m.editor()
		e.Insert(text)
		return m.written(s)
	}
	m.prompt.Paste(text)
	m.questions.afterKey(true, true)
	return tea.Batch(m.composer.complete(), m.composer.drop(text))
}

func (m *model) wheel(b tea.MouseButton) {
	by := map[tea.MouseButton]int{tea.MouseWheelUp: -3, tea.MouseWheelDown: 3}[b]
	if m.help.pane.Open {
		m.help.pane.Scroll(by)
		return
	}
	switch m.scope() {
	case inPicker:
		m.picker.Move(by / 3)
	case inView:
		m.view.Scroll(by)
	case inFirst:
		m.first.screen.Scroll(by)
	default:
		m.transcript.Scroll(m.draw, by)
	}
}

// under returns the scope below help.
func (m *model) under() scope {
	if s, ok := m.questions.scope(m.help.pane.Open); ok {
		return s
	}
	switch {
	case m.picker.Open:
		return inPicker
	case m.view.Open():
		return inView
	case m.first.shown() && m.first.screen.Asks():
		return inKey
	case m.first.shown():
		return inFirst
	}
	return inPrompt
}

// editor returns the focused editor and its text width.
func (m *model) editor() (*edit.Editor, int) {
	switch m.scope() {
	case inReason:
		return &m.questions.dialog.Reason, m.w
	case inText:
		return &m.questions.dialog.Text, m.questions.dialog.TextWidth()
	case inInquiry:
		return &m.questions.inquiry.FreeAnswer, m.w
	case inPicker:
		return &m.picker.Filter, m.w
	case inHelp:
		return &m.help.pane.Filter, m.w
	case inKey:
		return m.first.screen.Editor(), m.w
	}
	return &m.prompt.Editor, m.prompt.Inner(m.w)
}
