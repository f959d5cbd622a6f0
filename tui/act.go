package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/tool"
	"adze/tui/api"
	"adze/tui/edit"
	"adze/tui/permission"
)

// armTime is how long a first ctrl+c waits for the second.
const armTime = 2 * time.Second

// Reasons why a key does nothing, for the status line and help.

func canSend(m *model) string {
	if m.rewinding {
		return "a moment: your last message is being taken back"
	}
	if strings.TrimSpace(m.prompt.Text) == "" {
		return "nothing to send: the prompt is empty"
	}
	return ""
}

func canStop(m *model) string {
	if !m.turn.running && m.prompt.Empty() && canRewind(m) != "" {
		return "nothing to stop: the agent does not work"
	}
	return ""
}

func needsEmpty(m *model) string {
	if !m.prompt.Empty() {
		return "only while the prompt is empty"
	}
	return ""
}

func canLeave(m *model) string {
	return needsEmpty(m)
}

func canTodos(m *model) string {
	if m.todos.Open() == 0 {
		return "there are no open todos"
	}
	return ""
}

func canSuspend(m *model) string {
	if m.background == nil {
		return "this terminal has no background"
	}
	return ""
}

// canAllow says what of a question has to be seen first.
func canAllow(m *model) string { return m.dialog.Unseen() }

func canGrant(m *model) string {
	if !m.dialog.Grants() {
		return "no rule is offered for this call: it is allowed once or not at all"
	}
	return m.dialog.Unseen()
}

func canSave(m *model) string {
	if !m.dialog.Saves() {
		return "no rule is offered to be saved for this call"
	}
	return m.dialog.Unseen()
}

func canAnother(m *model) string {
	if m.dialog.Others() == 0 {
		return "no other rule is offered for this call"
	}
	return ""
}

func seeAnother(m *model) tea.Cmd { m.dialog.Another(); return nil }

// allowForEver tells where the rule is kept.
func allowForEver(m *model) tea.Cmd {
	file := m.dialog.Offer().Save
	cmd := answer(permission.Always)(m)
	m.say("the rule is kept in " + file)
	return cmd
}

func noEnter(m *model) string {
	return "press " + m.keys.label(allowOnce) + " or " + m.keys.label(deny)
}

// What keys do.

// stop ends the turn, keeping what was written so far; without a turn it clears the prompt.
func (m *model) stop() tea.Cmd {
	if m.turn.running {
		m.turn.cancel()
		m.turn.stopping = true
		return nil
	}
	if m.dismiss() { // a question without a turn: nobody else will answer it
		return m.guardTimer()
	}
	m.prompt.Clear()
	return nil
}

// escape stops the turn or clears the prompt. Where there is nothing of both, it takes the last
// message back: at once after a stop, else when it is pressed twice.
func (m *model) escape() tea.Cmd {
	switch {
	case m.turn.stopping && !m.turn.shell && m.ports.Rewind != nil:
		m.turn.rewind = true
		m.say("your message comes back once the agent has stopped")
		return nil
	case m.turn.running || m.asks() || !m.prompt.Empty():
		return m.stop()
	case m.stopped || m.armed == stop:
		return m.rewind()
	}
	return m.arm(stop, "press "+m.keys.label(stop)+" again to take your last message back")
}

// arm lets a key do something when it is pressed a second time, soon.
func (m *model) arm(a action, text string) tea.Cmd {
	m.armed = a
	m.arming++
	m.say(text)
	return m.after(armTime, disarm(m.arming))
}

// interrupt is ctrl+c: the first stops or clears, the second in a row quits.
func (m *model) interrupt() tea.Cmd {
	if m.armed == quit || m.leaving {
		return m.leave()
	}
	m.stop()
	return m.arm(quit, "press "+m.keys.label(quit)+" again to quit")
}

// leave quits; a running turn is stopped first, and its end is waited for, so that it is recorded.
func (m *model) leave() tea.Cmd {
	if m.turn.running && !m.leaving {
		m.leaving = true
		m.turn.cancel()
		m.say("stopping the agent… (" + m.keys.label(quit) + " leaves at once)")
		return nil
	}
	return tea.Quit
}

// quitKey leaves; while the agent works, the user confirms.
func (m *model) quitKey() tea.Cmd { return m.leaveFor(api.Next{}) }

func (m *model) suspend() tea.Cmd {
	return func() tea.Msg {
		m.background()
		return tea.ResumeMsg{}
	}
}

func (m *model) drawAgain() tea.Cmd { m.redrawn++; return nil }

func (m *model) toggleTodos() tea.Cmd { m.todos.Toggle(); return nil }

func (m *model) toggleMouse() tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		m.say("the wheel scrolls; " + m.keys.label(releaseMouse) + " gives the mouse back to the terminal")
	} else {
		m.say("select with the mouse; " + m.keys.label(releaseMouse) + " takes it back")
	}
	return nil
}

func (m *model) toTop() tea.Cmd    { m.transcript.ToStart(); return nil }
func (m *model) toBottom() tea.Cmd { m.transcript.ToEnd(); return nil }

func pages(n int) func(*model) int { return func(m *model) int { return n * m.transcript.PageRows() } }
func rows(n int) func(*model) int  { return func(*model) int { return n } }

func scroll(by func(*model) int) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		m.transcript.Scroll(m.draw, by(m))
		return nil
	}
}

func scrollDialog(by int) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { m.dialog.Scroll(by); return nil }
}

func (m *model) editor() (*edit.Editor, int) {
	switch m.scope() {
	case inReason:
		return &m.dialog.Reason, m.w
	case inText:
		return &m.dialog.Text, m.dialog.TextWidth()
	case inInquiry:
		return &m.inquiry.Own, m.w
	case inPicker:
		return &m.picker.Filter, m.w
	case inHelp:
		return &m.help.Filter, m.w
	case inKey:
		return m.first.Editor(), m.w
	}
	return &m.prompt.Editor, m.prompt.Inner(m.w)
}

func answer(c permission.Choice) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		m.dialog.Answer(permission.Answer{Choice: c})
		m.seen()
		return m.guardTimer()
	}
}

func (m *model) giveReason() tea.Cmd { m.dialog.Explain(true); return nil }
func (m *model) dropReason() tea.Cmd { m.dialog.Explain(false); return nil }

func (m *model) denyBecause() tea.Cmd {
	m.dialog.Refuse()
	m.seen()
	return m.guardTimer()
}

// branch is the git branch as it was found.
type branch string

// lookForBranch asks which branch is checked out.
func (m *model) lookForBranch() tea.Cmd {
	ask := m.ports.Branch
	if ask == nil {
		return nil
	}
	return func() tea.Msg { return branch(ask()) }
}

// mayMoveHead reports a call after which another branch may be checked out: only commands do that.
func mayMoveHead(o tool.Outcome) bool {
	return slices.ContainsFunc(o.Record.Needs, func(n tool.Need) bool { return n.Permission == tool.Execute })
}
