package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/session/api"
	"adze/tui/async"
	"adze/tui/ui"
)

// host is what a feature asks of the interface that it is a part of.
type host interface {
	// say shows a line to the user until the next key.
	say(text string)
	// label is how a hint names the key of an action, and labelOf that of a row of the key table.
	label(a action) string
	labelOf(id string) string
	// working reports that a turn runs.
	working() bool
	// clock tells the time, and later has a message come after a while.
	clock() time.Time
	later(d time.Duration, msg tea.Msg) tea.Cmd
	// lend has something else use the terminal for a while, and goes on with its error; lends reports
	// that there is one to lend.
	lend(use func() error, then func(error) tea.Cmd) tea.Cmd
	lends() bool
	// leaveFor ends the interface to go on with something else; while the agent works, the user
	// confirms.
	leaveFor(n api.Next) tea.Cmd
}

// A feature is a part of the interface that has state of its own. It touches nothing of the model
// and asks its host for all else. It goes on with answers of the program (async.Ask), has commands
// (commandSource), makes its own rows of the key table, and draws itself where it is seen.

// commandSource has commands, which the user writes after a slash.
type commandSource interface{ commands() []command }

func (m *model) say(text string)                            { m.said.text = text }
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

// busy is why nothing of the user's own is done while a turn runs.
func busy(h host) string { return ui.Why(h.working(), "busy: stop the agent first, or wait") }

var _ host = (*model)(nil)
