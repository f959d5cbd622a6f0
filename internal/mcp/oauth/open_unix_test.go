//go:build unix && !darwin

package oauth

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The address is one argument, whatever stands in it, and without a screen nothing is opened.
func TestABrowserGetsTheAddressAsOneArgument(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	script := "#!/bin/sh\nprintf '%s|' \"$#\" \"$@\" > '" + pipe + "'\n"
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	find := func(program string) (string, []string, error) { return filepath.Join(dir, program), os.Environ(), nil }
	open := Browser(func(name string) string { return map[string]string{"DISPLAY": ":0"}[name] }, find)
	if err := open("https://a.example/?a=$(id)&b='x%20y';ls"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(pipe); err != nil || string(got) != "1|https://a.example/?a=$(id)&b='x%20y';ls|" {
		t.Errorf("%q, %v", got, err)
	}
	if open("file:///etc/passwd") == nil {
		t.Error("a file is opened")
	}
	for _, env := range []map[string]string{{}, {"DISPLAY": ":0", "SSH_CONNECTION": "1"}, {"WAYLAND_DISPLAY": "w", "CI": "true"}} {
		if Browser(func(name string) string { return env[name] }, find) != nil {
			t.Errorf("%v opens one", env)
		}
	}
}
