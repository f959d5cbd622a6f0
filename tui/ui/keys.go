package ui

import (
	"strings"

	"charm.land/bubbles/v2/key"
)

// Key binds keys, as Bubble Tea writes them, to what help says of them.
func Key(help string, keys ...string) key.Binding {
	return KeyNamed(strings.Join(keys, " "), help, keys...)
}

// KeyNamed is Key with another name than the keys themselves for people: PgUp for pgup.
func KeyNamed(name, help string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(name, help))
}

// KeyName is how a hint names a binding: its first key, as people read it.
func KeyName(b key.Binding) string {
	first, _, _ := strings.Cut(b.Help().Key, " ")
	return first
}
