// Package async asks for something beside the interface, and goes on with the answer in Update.
//
// The one rule: the question changes no state, and its continuation waits for nothing.
//
// Start reading at Ask. Known limits: an answer of an interface that ended meanwhile is dropped.
package async

import tea "charm.land/bubbletea/v2"

// Then is a message that Update calls: it takes what came of something beside the interface, and
// returns what is to be done next.
type Then func() tea.Cmd

// Ask calls ask beside the interface, and then with its answer in Update.
func Ask[T any](ask func() T, then func(T) tea.Cmd) tea.Cmd {
	return func() tea.Msg {
		answer := ask()
		return Then(func() tea.Cmd { return then(answer) })
	}
}

// Try is Ask for what may fail.
func Try[T any](ask func() (T, error), then func(T, error) tea.Cmd) tea.Cmd {
	return func() tea.Msg {
		answer, err := ask()
		return Then(func() tea.Cmd { return then(answer, err) })
	}
}
