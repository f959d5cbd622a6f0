package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestACallIsChangedInATerminal: what the user wrote runs and nothing else, the hunks that they
// refused stay as they were, and the model is told of both.
func TestACallIsChangedInATerminal(t *testing.T) {
	u := newUser(t)
	old := "one\n" + strings.Repeat("same\n", 10) + "ten\n"
	u.file("a.txt", old)
	p := u.openPane(80, 24)
	p.adze(u.script("-- 1 --\ncall bash: {\"command\":\"echo one > one.txt\"}\n" +
		"-- 2 --\nexpect bash completed: the person changed command before it ran, to:\ncall read: {\"path\":\"a.txt\"}\n" +
		"-- 3 --\nexpect read completed: \ncall edit: {\"path\":\"a.txt\",\"edits\":[{\"old_string\":\"one\",\"new_string\":\"two\"},{\"old_string\":\"ten\",\"new_string\":\"eleven\"}]}\n" +
		"-- 4 --\nexpect edit completed: rejected hunk 2 of this change; the rest was made. They say: ten is right\ntext: As you like.\n"))
	p.text("write")
	p.keys("Enter")
	p.sees("Run this command?", "e edit")
	p.keys("e")
	p.sees("edit the command")
	p.keys("BSpace", "BSpace", "BSpace", "BSpace")
	p.text(".md; echo more >> one.md")
	p.sees("more >> one.md")
	p.keys("Enter")
	p.sees("Edit this file?", "e edit")
	p.keys("e")
	p.sees("▸ [✓] hunk 1 of 2")
	p.keys("Down", "Space")
	p.sees("[✗] hunk 2 of 2")
	p.keys("n")
	p.sees("Why not?")
	p.text("ten is right")
	p.keys("Enter")
	p.sees("As you like.")
	p.quit()
	u.holds("one.md", "one\nmore\n")
	u.holds("a.txt", strings.Replace(old, "one", "two", 1))
	if _, err := os.Stat(filepath.Join(u.dir, "one.txt")); err == nil {
		t.Error("what the model wrote ran all the same")
	}
}

// holds fails unless a file of the workspace is exactly that.
func (u *user) holds(name, want string) {
	u.t.Helper()
	if got, err := os.ReadFile(filepath.Join(u.dir, name)); err != nil || string(got) != want {
		u.t.Errorf("%s: %v %q, want %q", name, err, got, want)
	}
}
