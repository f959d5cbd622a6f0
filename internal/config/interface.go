package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Interface holds settings for the terminal interface.
type Interface struct {
	// Theme is one of Themes; empty means auto.
	Theme string `json:"theme,omitempty"`
	// Inline uses the terminal's own scrollback instead of the whole screen.
	Inline bool `json:"inline,omitempty"`
	// Mouse enables mouse input.
	Mouse bool `json:"mouse,omitempty"`
	// Keys is one of Keys; empty means usual.
	Keys string `json:"keys,omitempty"`
}

// Themes returns the names of the themes.
func Themes() []string { return []string{"auto", "dark", "light", "contrast", "ansi", "none"} }

// Keys returns the names of the prompt's key sets.
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

// Bound lists the keys for an action; a single one may be a string.
type Bound []string

// UnmarshalJSON parses "f8" and ["f8", "ctrl+k"].
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

// BoundKeys returns the user's key bindings by action. The interface knows the valid actions and
// keys, and warns about others.
func (c Config) BoundKeys() map[string][]string {
	out := map[string][]string{}
	for action, keys := range c.Keys {
		out[action] = keys
	}
	return out
}
