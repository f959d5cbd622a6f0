package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Interface is how the terminal interface looks and behaves.
type Interface struct {
	// Theme is one of Themes; empty is auto.
	Theme string `json:"theme,omitempty"`
	// Inline keeps the conversation in the terminal's own scrollback instead of taking the whole
	// screen.
	Inline bool `json:"inline,omitempty"`
	// Mouse lets the interface take the mouse from the terminal.
	Mouse bool `json:"mouse,omitempty"`
	// Keys is one of Keys; empty is usual.
	Keys string `json:"keys,omitempty"`
}

// Themes are the names of the themes of the interface.
func Themes() []string { return []string{"auto", "dark", "light", "contrast", "ansi", "none"} }

// Keys are the names of the sets of keys of the prompt.
func Keys() []string { return []string{"usual", "vim"} }

func (i Interface) check(path string) error {
	if i.Theme != "" && !slices.Contains(Themes(), i.Theme) {
		return &Error{Path: path, Message: fmt.Sprintf("interface.theme is %q", i.Theme), Hint: "the themes are " + strings.Join(Themes(), ", ")}
	}
	if i.Keys != "" && !slices.Contains(Keys(), i.Keys) {
		return &Error{Path: path, Message: fmt.Sprintf("interface.keys is %q", i.Keys), Hint: "the keys are " + strings.Join(Keys(), " or ")}
	}
	return nil
}

// Bound are the keys of an action: one as a string, or several.
type Bound []string

// UnmarshalJSON reads "f8" and ["f8", "ctrl+k"].
func (b *Bound) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*b = Bound{one}
		return nil
	}
	var all []string
	if err := json.Unmarshal(raw, &all); err != nil {
		return errors.New(`keys are a string such as "f8", or a list of them`)
	}
	*b = all
	return nil
}

// BoundKeys are the keys of the interface that the user bound, by action. Which
// actions and keys there are, the interface knows: it warns of others.
func (c Config) BoundKeys() map[string][]string {
	out := map[string][]string{}
	for action, keys := range c.Keys {
		out[action] = keys
	}
	return out
}
