package ui

import (
	"strings"

	"charm.land/bubbles/v2/key"
)

// Key returns a binding for keys in Bubble Tea's form, with a help text.
func Key(help string, keys ...string) key.Binding {
	return KeyNamed(strings.Join(keys, " "), help, keys...)
}

// KeyNamed is Key with another display name: PgUp for pgup.
func KeyNamed(name, help string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(name, help))
}

// KeyName returns a binding's display name for hints: its first key.
func KeyName(b key.Binding) string {
	first, _, _ := strings.Cut(b.Help().Key, " ")
	return first
}
