package models

import "adze/session"

// Model is a chosen model with what it needs.
type Model struct {
	Provider session.Provider
	Name     string // without the provider's prefix
	Origin   string // how it was chosen
	Profile  Profile
	Server   string        // what a session keeps of the server that was found; if empty, the provider's name says it
	window   *window       // if nil, what the table tells
	larger   func() string // how its server is given a larger context, with window
	place    *place        // what answers for it is not known yet; if nil, it is
}

// Full is provider/name.
func (m Model) Full() string { return m.Provider.Name() + "/" + m.Name }
