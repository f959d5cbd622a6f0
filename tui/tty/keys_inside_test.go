package tty

import (
	"testing"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"adze/tui/input"
)

// tmux 3.8 with extended-keys on sends ESC [105;5u for ctrl+i and ESC [91;5u for ctrl+[, and Bubble
// Tea 2.0.9 names them so; a user means tab and escape.
func TestKeysThatMostTerminalsSendAlikeAreOne(t *testing.T) {
	for code, want := range map[rune]string{'i': "tab", 'm': "enter", '[': "esc", 'k': "ctrl+k"} {
		terminal := &Terminal{pendingKeys: &input.PendingKeys{}}
		terminal.pendingKeys.Add(uv.KeyPressEvent{Code: code, Mod: uv.ModCtrl})
		key, _ := terminal.filter(nil, typed{}).(tea.KeyPressMsg)
		if key.String() != want {
			t.Errorf("ctrl+%c is %q, want %q", code, key.String(), want)
		}
	}
}
