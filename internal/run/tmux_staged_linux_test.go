package run_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAStagedTurnIsReviewedOnce: twelve edits and three commands of one turn ask nothing, and one
// review decides about them: take, drop, some, or later.
func TestAStagedTurnIsReviewedOnce(t *testing.T) {
	u := repository(t)
	sandboxed(t, u)
	before := state(t, u)
	p := u.openPane(100, 40)
	p.adze(u.script(stagedTurn()), "--permission-mode=staged")
	prompt := func() {
		t.Helper()
		p.text("go")
		p.keys("Enter")
		p.sees("Take over the changes of this turn?", "take all", "take some", "drop all", "later")
		if now := state(t, u); now != before {
			t.Fatalf("before the review\n%s\nwas\n%s", now, before)
		}
	}
	prompt()
	p.keys("n", "Enter")
	p.sees("dropped 14 files")
	if now := state(t, u); now != before {
		t.Fatalf("after a drop\n%s\nwas\n%s", now, before)
	}
	p.quit()
	p.adze(u.script(stagedTurn()), "--permission-mode=staged")
	prompt()
	p.keys("Escape")
	p.sees("wait for you", "/stage shows them")
	p.text("/stage")
	p.keys("Enter")
	p.sees("Take over the changes of this turn?", "take all")
	p.keys("y")
	p.sees("took 14 files")
	if data, err := os.ReadFile(filepath.Join(u.dir, "made/b")); string(data) != "b\nmore\n" {
		t.Errorf("%q, %v", data, err)
	}
	p.rests()
	p.text("/undo 1")
	p.keys("Enter")
	p.sees("restore 16 files")
	p.keys("Enter")
	p.until("all is undone", func() bool { return state(t, u) == before })
	p.quit()
}
