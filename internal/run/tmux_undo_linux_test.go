package run_test

import "testing"

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
