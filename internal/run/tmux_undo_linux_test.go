package run_test

import (
	"os/exec"
	"testing"
)

// TestUndoInATerminal takes a turn back by /undo, brings it back by /redo, and takes message and
// files back by Esc twice.
func TestUndoInATerminal(t *testing.T) {
	u := repository(t)
	before := u.shape()
	p := u.openPane(100, 30)
	p.adze("--permission-mode=yolo", u.script("-- 1 --\n"+bash("echo x > src/a.go; rm -r src/deep; echo TOKEN=abc > made")+"-- 2 --\ntext: It is wrecked.\n"))
	p.text("wreck it")
	p.keys("Enter")
	p.sees("It is wrecked.")
	wrecked := u.shape()
	p.keys("F3")
	p.sees("net changes · 3 files", "src/a.go", "+x", "-package a", "src/deep/c")
	p.keys("Escape")
	p.sees("It is wrecked.") // what is typed right behind an escape is a key with alt
	p.text("/undo")
	p.keys("Enter")
	p.sees("undo: wreck it", "restore 4 files", "change nothing")
	p.keys("Enter")
	p.sees("4 files restored; /redo reverses this")
	u.wantTree("after /undo", before)
	p.text("/redo")
	p.keys("Enter")
	p.sees("redo: wreck it")
	p.keys("Enter")
	p.sees("4 files restored; /undo reverses this")
	u.wantTree("after /redo", wrecked)
	p.keys("Escape")
	p.sees("again to go back to a message")
	p.keys("Escape")
	p.sees("take back: wreck it", "your message back")
	p.keys("Enter")
	p.sees("your message is back in the prompt", "wreck it")
	p.keys("C-u")
	p.quit()
}

// TestAnUndoOffersNothingOfACommitAbove: a commit of the user's own stands on that of the turn, so
// that none of git's own state can be put back.
func TestAnUndoOffersNothingOfACommitAbove(t *testing.T) {
	u := repository(t)
	p := u.openPane(120, 30)
	commit := "git -c user.name=a -c user.email=a commit --allow-empty -qm "
	p.adze("--permission-mode=yolo", u.script("-- 1 --\n"+bash(commit+"model")+"-- 2 --\ntext: It is committed.\n"))
	p.text("commit it")
	p.keys("Enter")
	p.sees("It is committed.")
	p.rests()
	own := exec.Command("sh", "-c", commit+"own")
	own.Dir = u.dir
	if out, err := own.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	p.text("/undo")
	p.keys("Enter")
	p.sees("nothing to restore; left alone: ")
	p.quit()
}
