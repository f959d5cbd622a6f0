package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// talk has sessions stored: what is asked of each, and what its model does.
func (u *user) talk(prompts map[string]string) {
	u.t.Helper()
	for prompt, steps := range prompts {
		u.run("-p", "--permission-mode", "yolo", u.script(steps), prompt).wants(0)
	}
}

func (u *user) indexed() bool {
	_, err := os.Stat(filepath.Join(u.home, "state", "search.db"))
	return err == nil
}

// What was asked, answered, called and came of it is found, from a shell and for scripts; a run alone makes no index.
func TestSessionsAreSearched(t *testing.T) {
	u := newUser(t)
	u.file("notes.txt", "the wombat lives here\n")
	u.talk(map[string]string{"why is the disk full": "-- 1 --\ncall read: {\"path\": \"notes.txt\"}\n-- 2 --\ntext: The log never rotates.\n"})
	if u.indexed() {
		t.Error("a run made the index")
	}
	u.run("session", "search", "disk full").wants(0, "why is the disk full", "prompt")
	if !u.indexed() {
		t.Error("a search made no index")
	}
	u.run("session", "search", "rotat").wants(0, "answer", "The log never rotates.")
	u.run("session", "search", "wombat", "lives").wants(0, "read", "the wombat lives here")
	var hit struct{ Session, Kind, Tool, Message, Snippet string }
	decode(t, u.run("session", "search", "notes.txt", "--json").wants(0).out, &hit)
	if hit.Kind != "call" || hit.Tool != "read" || hit.Session == "" || !strings.Contains(hit.Snippet, "notes.txt") {
		t.Errorf("%+v", hit)
	}
	u.talk(map[string]string{"what else fills the disk": "-- 1 --\ntext: Nothing.\n"})
	r := u.run("session", "search", "disk", "--limit", "1").wants(0, "what else fills the disk", "--page 2 shows them")
	if strings.Contains(r.out, "why is the disk full") {
		t.Errorf("more than one: %s", r.out)
	}
	u.run("session", "search", "disk", "--limit", "1", "--page", "2").wants(0, "why is the disk full")
	u.run("session", "search", "disk", "--since", "1h").wants(0, "why is the disk full")
	u.run("session", "search", "disk", "--since", "2999-01-01").wants(0, "nothing found")
	u.dir = t.TempDir()
	u.run("session", "search", "disk").wants(0, "nothing found", "--all")
	u.run("session", "search", "disk", "--all").wants(0, "why is the disk full")
	u.run("session", "search", "--", "-").wants(2, "a letter or a digit")
	u.run("session", "search", "x", "--since", "soon").wants(2, "3d")
	u.run("session", "search", "x", "--page", "0").wants(2, "--page 2")
}
