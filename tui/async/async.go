// Package async runs a request in the background and continues with the result in Update.
//
// The one rule: the request changes no state, and the continuation does not block.
//
// Start reading at Ask. Known limits: a result is dropped if the interface has ended.
package async

import tea "charm.land/bubbletea/v2"

// Continuation is a message that Update calls: it handles a background result and returns the next
// command.
type Continuation func() tea.Cmd

// Ask calls ask in the background, and then with its result in Update.
func Ask[T any](ask func() T, then func(T) tea.Cmd) tea.Cmd {
	return func() tea.Msg {
		answer := ask()
		return Continuation(func() tea.Cmd { return then(answer) })
	}
}

// Try is like Ask for a function that may fail.
func Try[T any](ask func() (T, error), then func(T, error) tea.Cmd) tea.Cmd {
	return func() tea.Msg {
		answer, err := ask()
		return Continuation(func() tea.Cmd { return then(answer, err) })
	}
}
