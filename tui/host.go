package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/session/api"
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
	// leaveFor ends the interface to go on with something else; while the agent works, the user
	// confirms.
	leaveFor(n api.Next) tea.Cmd
}

// A feature is a part of the interface that has state of its own. It touches nothing of the model:
// what it needs beside its own state it asks of its host. One that gets messages is a receiver, one
// that has commands a commandSource; it makes the rows of the key table that are its own, and draws
// itself where it is seen.

// receiver takes messages; handled: it was for this feature alone. What only changes what is shown
// is not: a list may follow it.
type receiver interface {
	update(msg tea.Msg) (handled bool, cmd tea.Cmd)
}

// commandSource has commands, which the user writes after a slash.
type commandSource interface{ commands() []command }

func (m *model) say(text string)                            { m.said.text = text }
func (m *model) label(a action) string                      { return m.keys.label(a) }
func (m *model) labelOf(id string) string                   { return m.keys.labelOf(id) }
func (m *model) working() bool                              { return m.turns.turn.running }
func (m *model) clock() time.Time                           { return m.now() }
func (m *model) later(d time.Duration, msg tea.Msg) tea.Cmd { return m.after(d, msg) }
func (m *model) leaveFor(n api.Next) tea.Cmd                { return m.stopper.leaveFor(n) }

var _ host = (*model)(nil)
