package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/tui/async"
)

// armTime is how long a first ctrl+c waits for the second.
const armTime = 2 * time.Second

// doublePress is the key that does something else when it is pressed a second time, soon.
type doublePress struct {
	host
	armed action // send: none is
	count int    // of keys that were armed
}

// arm lets a key do something else when it is pressed again, soon, and says so.
func (t *doublePress) arm(a action, text string) tea.Cmd {
	t.keep(a)
	t.say(text)
	count := t.count
	return t.later(armTime, async.Then(func() tea.Cmd {
		if count == t.count && t.armed != send {
			t.armed = send
			t.say("")
		}
		return nil
	}))
}

// keep arms a key until another one is pressed.
func (t *doublePress) keep(a action) {
	t.armed = a
	t.count++
}

// is reports whether a key is pressed again.
func (t *doublePress) is(a action) bool { return t.armed == a }

// forget has the next key be a first one.
func (t *doublePress) forget() { t.armed = send }
