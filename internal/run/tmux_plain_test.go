package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlainLinesInATerminal is the interface for screen readers: the terminal scrolls, and nothing
// else.
func TestPlainLinesInATerminal(t *testing.T) {
	u := newUser(t)
	p := u.openPane(100, 30)
	p.begin(u.script("-- 1 --\ncall bash: {\"command\":\"echo one > one.txt\"}\n"+
		"-- 2 --\nexpect bash completed: \ntext: It is **written**.\n"), "--plain", "--permission-mode=yolo")
	p.sees("/quit leaves.")
	p.shell("write it")
	p.sees("Running $ echo one > one.txt.", "✓ $ echo one > one.txt", "It is written.", "Ready.")
	p.shell("/quit")
	p.restored(0)
	if _, err := os.Stat(filepath.Join(u.dir, "one.txt")); err != nil {
		t.Error(err)
	}
}

// TestPlainWorkIsStopped by ctrl+c, and the program only by the next one.
func TestPlainWorkIsStopped(t *testing.T) {
	u := newUser(t)
	u.gate("gate")
	p := u.openPane(100, 30)
	p.begin(u.script("-- 1 --\ncall bash: {\"command\":\"echo begun > begun; cat gate\"}\n-- 2 --\ntext: Then not.\n"), "--plain", "--permission-mode=yolo")
	p.sees("/quit leaves.")
	p.shell("go")
	p.until("the command runs", func() bool { _, err := os.Stat(filepath.Join(u.dir, "begun")); return err == nil })
	p.keys("C-c")
	p.sees("Interrupt again to leave.", "stopped", "Ready.")
	p.shell("and now?")
	p.until("it has ended", func() bool { return strings.Count(p.screen(), "Ready.") == 2 })
	p.keys("C-c")
	p.sees("--resume")
}
