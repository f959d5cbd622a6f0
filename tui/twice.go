package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/tui/async"
)

// armTime is the time limit for the second press.
const armTime = 2 * time.Second

// doublePress detects a key pressed twice in a short time.
type doublePress struct {
	host
	armed action // send: none
	count int    // times armed
}

// arm gives a key's second press another meaning for armTime, and shows text.
func (t *doublePress) arm(a action, text string) tea.Cmd {
	t.keep(a)
	t.showMessage(text)
	count := t.count
	return t.later(armTime, async.Continuation(func() tea.Cmd {
		if count == t.count && t.armed != send {
			t.armed = send
			t.showMessage("")
		}
		return nil
	}))
}

// keep arms a key until another key is pressed.
func (t *doublePress) keep(a action) {
	t.armed = a
	t.count++
}

// is reports whether a is armed.
func (t *doublePress) is(a action) bool { return t.armed == a }

// forget disarms the key.
func (t *doublePress) forget() { t.armed = send }
