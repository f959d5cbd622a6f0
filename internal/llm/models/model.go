package models

import "adze/session"

// A Model is a chosen model with its provider and settings.
type Model struct {
	Provider session.Provider
	Name     string // without the provider's prefix
	Origin   string // how it was chosen
	Profile  Profile
	Server   string        // what a session stores about the server; if empty, the provider's name suffices
	window   *window       // if nil, the table's
	larger   func() string // how to enlarge the server's context, if window is set
	place    *place        // nil once the server is known
}

// Full returns provider/name.
func (m Model) Full() string { return m.Provider.Name() + "/" + m.Name }
