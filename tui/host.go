package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/session/api"
	"adze/tui/async"
	"adze/tui/ui"
)

// host is the part of the interface that features use.
type host interface {
	// showMessage shows a line until the next key.
	showMessage(text string)
	// label returns the hint for an action's key, labelOf for a row of the key table.
	label(a action) string
	labelOf(id string) string
	// working reports whether a turn runs.
	working() bool
	// clock returns the current time; later delivers msg after d.
	clock() time.Time
	later(d time.Duration, msg tea.Msg) tea.Cmd
	// lend gives the terminal to use and then calls then with its error; lends reports whether
	// there is a terminal to lend.
	lend(use func() error, then func(error) tea.Cmd) tea.Cmd
	lends() bool
	// leaveFor ends the interface and continues with n; while the agent works, it asks for
	// confirmation.
	leaveFor(n api.Next) tea.Cmd
}

// A feature is a part of the interface with its own state. It does not access the model, only its
// host. It handles answers of the program (async.Ask), has commands (commandSource) and rows of the
// key table, and draws itself.

// commandSource provides slash commands.
type commandSource interface{ commands() []command }

func (m *model) showMessage(text string)                    { m.statusLine.text = text }
func (m *model) label(a action) string                      { return m.keys.label(a) }
func (m *model) labelOf(id string) string                   { return m.keys.labelOf(id) }
func (m *model) working() bool                              { return m.turns.turn.running }
func (m *model) clock() time.Time                           { return m.now() }
func (m *model) later(d time.Duration, msg tea.Msg) tea.Cmd { return m.after(d, msg) }
func (m *model) lends() bool                                { return m.borrow != nil }
func (m *model) leaveFor(n api.Next) tea.Cmd                { return m.stopper.leaveFor(n) }

func (m *model) lend(use func() error, then func(error) tea.Cmd) tea.Cmd {
	return async.Ask(m.borrow(use), func(err error) tea.Cmd {
		m.w, m.h = m.foreground()
		return then(err)
	})
}

// busy returns why nothing else can run during a turn, or "".
func busy(h host) string { return ui.ReasonIf(h.working(), "busy: stop the agent first, or wait") }

var _ host = (*model)(nil)
