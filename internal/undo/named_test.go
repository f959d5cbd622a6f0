//go:build linux

package undo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNamedPathsAreUndoneInAFolderThatIsTooWide: made, changed and removed, with folders, links and
// modes; nothing else is looked at.
func TestNamedPathsAreUndoneInAFolderThatIsTooWide(t *testing.T) {
	p := newSite(t)
	p.sh(`mkdir -p a/b other; echo one > a/b/c; echo run > run; chmod 755 run; ln -s a link; echo x > other/x`)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	o := p.options()
	o.Home = filepath.Join(p.root, "home", "me")
	if _, err := Open(o); !errors.Is(err, ErrTooWide) {
		t.Fatalf("a folder around the home is covered: %v", err)
	}
	o.Named = true
	w, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	p.Workspace = w
	take := func(paths ...string) Mark {
		t.Helper()
		m, err := p.TakeAt(context.Background(), paths)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	paths := []string{"run", "a/b/c", "new/deep/file", "link/b/c", "../out", "link"}
	before, was := take(paths...), p.shape(false)
	p.sh(`echo two > a/b/c; rm run; mkdir -p new/deep; echo n > new/deep/file; chmod 700 new; rm link; ln -s other link; echo y > other/x`)
	after := take(paths...)
	changes, err := p.Diff(context.Background(), before, after)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range changes {
		names = append(names, c.Path)
	}
	if got := strings.Join(names, " "); got != "a/b/c link new new/deep new/deep/file run" {
		t.Errorf("changed: %s", got)
	}
	is := p.shape(false)
	undone := p.undo(false, Window{before, after})
	p.clean(undone)
	p.sh(`echo x > other/x`)
	p.same("undo", p.shape(false), was)
	p.sh(`echo y > other/x`)
	redone := p.undo(false, undone.Window)
	p.clean(redone)
	p.same("redo", p.shape(false), is)
}

// TestNamedPathsOfAPersonStay where they were changed since.
func TestNamedPathsOfAPersonStay(t *testing.T) {
	p := newSite(t)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	o := p.options()
	o.Named = true
	w, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	p.Workspace = w
	p.sh(`echo one > file`)
	ctx := context.Background()
	before, err := w.TakeAt(ctx, []string{"file", "made/new"})
	if err != nil {
		t.Fatal(err)
	}
	p.sh(`echo two > file; mkdir made; echo n > made/new`)
	after, err := w.TakeAt(ctx, []string{"made/new", "file"})
	if err != nil {
		t.Fatal(err)
	}
	p.sh(`echo mine > file; echo mine > made/mine`)
	r := p.undo(false, Window{before, after})
	if len(r.Refused) != 2 || r.Refused[0].Path != "file" || r.Refused[1].Path != "made" || len(r.Done) != 1 {
		t.Errorf("refused %v, done %v", r.Refused, r.Done)
	}
	for name, want := range map[string]string{"file": "mine\n", "made/mine": "mine\n"} {
		if got, _ := os.ReadFile(filepath.Join(p.root, name)); string(got) != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	if _, err := os.Stat(filepath.Join(p.root, "made/new")); err == nil {
		t.Error("made/new is still there")
	}
}
