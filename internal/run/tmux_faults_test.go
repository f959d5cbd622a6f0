package run_test

import (
	"strings"
	"testing"
)

// TestWhatWasSaidIsThereAfterAResume: a denied call with its command, a command of the user's own
// as a call, and an error of what could not be opened, below the conversation.
func TestWhatWasSaidIsThereAfterAResume(t *testing.T) {
	u := newUser(t)
	p := u.openPane(80, 30)
	p.adze(u.script("-- 1 --\ncall bash: {\"command\":\"touch never; sleep 0\"}\n-- 2 --\ntext: Then not.\n"))
	p.text("!seq 1 40")
	p.keys("Enter")
	p.sees("✓ $ seq 1 40", "40")
	p.text("do it")
	p.keys("Enter")
	p.sees("Run this command?", "n no")
	p.keys("F1") // the status line names it
	p.sees("in a question about a call", "no, with a reason if you type one")
	p.keys("Escape")
	p.sees("Run this command?", "n no")
	p.keys("n", "Enter")
	p.sees("Then not.")
	p.text("/mode")
	p.keys("Enter")
	p.sees("permission modes", "asks before each edit")
	p.keys("Escape")
	p.sees("Then not.", "F1: keys")
	p.text("/model nobody/here")
	p.keys("Enter")
	now := p.sees("touch never; sleep 0", "denied by you", "Then not.", "error:", `there is no provider "nobody"`, "F1: keys")
	if strings.Contains(now, "I ran this command myself") {
		t.Errorf("what the model is told of a command is shown to who ran it:\n%s", now)
	}
	if !strings.Contains(now, "✓ $ seq 1 40") || strings.Contains(now, "\n  │ 20\n") {
		t.Errorf("the person's own command is drawn unlike before:\n%s", now)
	}
	p.text("/resume nowhere")
	p.keys("Enter")
	p.sees("Then not.", "error:", "nowhere")
	p.keys("Escape", "Escape")
	p.sees("❯ do it")
	p.keys("C-u")
	p.quit()
}

// TestABackgroundJobIsSeenAndEnded: one that the agent started is counted, shows what it wrote, and
// ends by the user.
func TestABackgroundJobIsSeenAndEnded(t *testing.T) {
	u := newUser(t)
	p := u.openPane(90, 30)
	p.adze(u.script("-- 1 --\ncall bash: {\"command\":\"echo ready to serve; sleep 1000\",\"background\":true}\n-- 2 --\ntext: It runs.\n"), "--permission-mode=yolo")
	p.text("serve")
	p.keys("Enter")
	p.sees("It runs.", "── 1 job")
	p.text("/jobs")
	p.keys("Enter")
	p.sees("▸ job1", "its last output", "ready to serve")
	p.keys("Enter")
	p.sees("output of job1", "ready to serve", "1 job")
	p.keys("Escape")
	p.sees("It runs.")
	p.text("/jobs")
	p.keys("Enter")
	p.sees("▸ job1", "ctrl+x: end")
	p.keys("C-x")
	p.sees("end job1", "▸ leave it running")
	p.keys("Down", "Enter")
	p.sees("job1 was ended", "It runs.")
	p.text("/jobs")
	p.keys("Enter")
	now := p.sees("job1", "ended: ", "esc: close")
	if strings.Contains(now, "1 job ") {
		t.Errorf("it is still counted:\n%s", now)
	}
	p.keys("Escape")
	p.sees("It runs.", "F1: keys")
	p.quit()
}
