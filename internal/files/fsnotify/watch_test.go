//go:build linux

package fsnotify

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// watched is a folder with the folders "" and "sub/" watched.
func watched(t *testing.T) (*Watch, string) {
	t.Helper()
	top := t.TempDir()
	if err := os.Mkdir(filepath.Join(top, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	f := folder(t, top)
	w, err := New(int(f.Fd()), 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(w.Close)
	add(t, w, top, "")
	add(t, w, filepath.Join(top, "sub"), "sub/")
	return w, top
}

func folder(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func add(t *testing.T, w *Watch, path, as string) {
	t.Helper()
	f := folder(t, path)
	if err := errors.Join(w.Add(int(f.Fd()), as), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// told is what one Drain says: each folder with its names, an asterisk at those that were written.
func (w *Watch) told() string {
	var c Changed
	w.Drain(&c)
	if c.All {
		return "all"
	}
	var all []string
	for _, path := range slices.Sorted(maps.Keys(c.Folders)) {
		for _, name := range slices.Sorted(maps.Keys(c.Folders[path])) {
			mark := ""
			if c.Folders[path][name] {
				mark = "*"
			}
			all = append(all, path+"|"+name+mark)
		}
	}
	return strings.Join(all, " ")
}

func TestWhatHappensIsTold(t *testing.T) {
	w, top := watched(t)
	at := func(name string) string { return filepath.Join(top, name) }
	steps := []struct {
		name string
		do   func() error
		want string
	}{
		{"nothing", func() error { return nil }, ""},
		{"reading", func() error { _, err := os.ReadDir(at("sub")); return err }, ""},
		{"a new file", func() error { return os.WriteFile(at("sub/f"), []byte("x"), 0o644) }, "sub/|f*"},
		{"a mode", func() error { return os.Chmod(at("sub/f"), 0o600) }, "sub/|f"},
		{"the mode of a folder", func() error { return os.Chmod(at("sub"), 0o700) }, "sub/| |sub"},
		{"a file between folders", func() error { return os.Rename(at("sub/f"), at("g")) }, "sub/|f |g"},
		{"a folder that is not watched", func() error { return os.MkdirAll(at("new/deep/er"), 0o755) }, "|new"},
		{"a moved folder keeps its old path", func() error { return os.Rename(at("sub"), at("moved")) }, "sub/| |moved |sub"},
		{"a file in it", func() error { return os.WriteFile(at("moved/h"), nil, 0o644) }, "sub/|h*"},
		{"a folder that is gone", func() error { return os.RemoveAll(at("moved")) }, "sub/| sub/|h |moved"},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			t.Fatal(err)
		}
		got, want := strings.Fields(w.told()), strings.Fields(s.want)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", s.name, got, want)
		}
	}
	if w.Watching("sub/") || !w.Watching("") {
		t.Error("a folder that is gone counts as watched, or the root does not")
	}
}

func TestAFolderThatIsAddedUnderANewPathIsToldUnderBoth(t *testing.T) {
	w, top := watched(t)
	if err := os.Rename(filepath.Join(top, "sub"), filepath.Join(top, "moved")); err != nil {
		t.Fatal(err)
	}
	add(t, w, filepath.Join(top, "moved"), "moved/")
	if err := os.Mkdir(filepath.Join(top, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	add(t, w, filepath.Join(top, "sub"), "sub/") // another folder of this path: the old one has it no more
	w.told()
	if err := os.WriteFile(filepath.Join(top, "moved", "f"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := w.told(); got != "moved/|f*" {
		t.Errorf("%q", got)
	}
}

func TestLostEventsAreToldAsAll(t *testing.T) {
	w, top := watched(t)
	for i := range 100 {
		if err := os.WriteFile(filepath.Join(top, fmt.Sprint(i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 17_000 {
		if err := os.Chmod(filepath.Join(top, fmt.Sprint(i%100)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil || strings.TrimSpace(string(text)) > "16384" || len(strings.TrimSpace(string(text))) > 5 {
		t.Skip("the queue holds more than this test makes")
	}
	if got := w.told(); got != "all" {
		t.Errorf("%d bytes were told", len(got))
	}
}

func TestTheLimitIsKept(t *testing.T) {
	top := t.TempDir()
	w, err := New(int(folder(t, top).Fd()), 1)
	if err != nil {
		t.Skip(err)
	}
	defer w.Close()
	add(t, w, top, "")
	if err := w.Add(int(folder(t, top).Fd()), "again/"); !errors.Is(err, ErrLimit) {
		t.Errorf("the second of one: %v", err)
	}
}
