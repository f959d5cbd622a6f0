package hostio

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPictureFromTheClipboard plays the programs by scripts.
func TestPictureFromTheClipboard(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	program := func(name, script string) {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := func(pairs map[string]string) func(string) string { return func(k string) string { return pairs[k] } }
	program("wl-paste", `[ "$*" = "--no-newline --type image/png" ] && printf '\211PNG\r\n\032\n wayland'`)
	program("xclip", `echo "no such target" >&2; exit 1`)
	program("osascript", `echo '«data PNGf89504E470D0A1A0A206170706C65»'`)
	program("powershell.exe", `case "$*" in *-STA*GetImage*) echo iVBORw0KGgogd2luZG93cw== ;; *) exit 1 ;; esac`)
	for _, c := range []struct {
		system string
		env    map[string]string
		want   string // of the file, or of the error
	}{
		{"linux", map[string]string{"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, "\x89PNG\r\n\x1a\n wayland"},
		{"linux", map[string]string{"DISPLAY": ":0"}, "error: there is no picture on the clipboard"},
		{"linux", nil, "error: there is no desktop here"},
		{"darwin", nil, "\x89PNG\r\n\x1a\n apple"},
		{"windows", nil, "\x89PNG\r\n\x1a\n windows"},
	} {
		dir := filepath.Join(t.TempDir(), "pictures")
		got := ""
		path, err := Clipboard{dir, c.system, t.TempDir(), env(c.env)}.Picture(context.Background())
		if err != nil {
			got = "error: " + err.Error()
		} else if b, err := os.ReadFile(path); err != nil || filepath.Dir(path) != dir || !attachable(path) {
			t.Errorf("%s: %v", path, err)
		} else {
			got = string(b)
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s with %v: %q, want %q", c.system, c.env, got, c.want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := (Clipboard{t.TempDir(), "linux", t.TempDir(), env(map[string]string{"DISPLAY": ":0"})}).Picture(context.Background()); err == nil || !strings.Contains(err.Error(), "read by xclip, which is not installed") {
		t.Error(err)
	}
}
