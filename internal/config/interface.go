package config

import (
	"fmt"
	"slices"
	"strings"
)

// Interface is how the terminal interface looks and behaves.
type Interface struct {
	// Theme is one of Themes; empty is auto.
	Theme string `json:"theme,omitempty"`
	// Inline keeps the conversation in the terminal's own scrollback instead of taking the whole screen.
	Inline bool `json:"inline,omitempty"`
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
