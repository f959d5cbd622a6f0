package run_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestTheOverviewAnswersAndOpensSessions: a session in the background asks, is answered from the
// overview, waits for a review, and is opened; /overview comes back.
func TestTheOverviewAnswersAndOpensSessions(t *testing.T) {
	u := newUser(t)
	p := u.openPane(100, 24)
	id := strings.TrimSpace(u.run("--background", "--permission-mode=ask", u.script("-- 1 --\ntext: I write it down.\ncall write: {\"path\":\"made.txt\",\"content\":\"one\"}\n-- 2 --\ntext: It is written down.\n"), "make the file").wants(0).out)
	t.Cleanup(func() { u.run("stop", id) })
	u.run("-p", u.script("-- 1 --\ntext: Hello.\n"), "say hello").wants(0)

	p.begin("sessions")
	p.sees("Sessions  1 waiting for you", "needs you ──", "▸? make the file", "asks: write made.txt", "done ──", "say hello")
	var line struct{ ID, State, Doing string }
	for text := range strings.SplitSeq(strings.TrimSpace(u.run("sessions", "--json").wants(0).out), "\n") {
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		if line.ID == id {
			break
		}
	}
	if line.ID != id || line.State != "needs you" || !strings.Contains(line.Doing, "made.txt") {
		t.Errorf("as JSON: %+v", line)
	}
	p.keys("Space")
	p.sees("I write it down.", "made.txt", "y: allow once")
	if u.has("made.txt") {
		t.Fatal("the file was written before the answer")
	}
	p.keys("y")
	p.sees("allowed once", "to review ──", "✓ make the file", "changed 1 file: made.txt")
	u.holds("made.txt", "one")
	p.text("V")
	p.sees("reviewed", "done ──")
	p.until("nothing waits for a review", func() bool { return !strings.Contains(p.screen(), "to review ──") })

	p.text("n")
	p.text("x")
	p.sees("new: x")
	p.keys("Escape")
	p.sees("n: begin a session")
	p.keys("Escape")
	p.until("the look is closed", func() bool { return !strings.Contains(p.screen(), "a look into it") })
	p.keys("Enter")
	p.sees("┃ make the file", "It is written down.", "Ask, or say what to do")
	p.rests()
	p.text("/overview")
	p.keys("Enter")
	p.sees("Sessions", "make the file", "say hello")
	p.text("q")
	p.restored(0)
}

// TestASessionGoesOnBesideTheOverview: /overview shows all sessions while the
// turn runs; another one is opened and left, and the first is as it would have been.
func TestASessionGoesOnBesideTheOverview(t *testing.T) {
	u := newUser(t)
	open := u.gate("gate")
	u.run("-p", u.script("-- 1 --\ntext: Hello there.\n"), "say hello").wants(0)
	p := u.openPane(100, 24)
	p.adze("--model="+u.scripts("-- 1 --\ncall bash: {\"command\":\"cat gate\"}\n-- 2 --\ntext: It went through.\n")[0], "--permission-mode=yolo")
	p.text("go")
	p.keys("Enter")
	p.sees("cat gate", "esc: stop")
	p.text("/overview")
	p.keys("Enter")
	p.sees("Sessions", "working ──", "▸● go", "cat gate", "say hello")
	p.keys("Escape")
	p.sees("esc: stop", "cat gate")
	p.text("/overview")
	p.keys("Enter")
	p.sees("working ──", "▸● go")
	p.keys("Down")
	p.sees("▸  say hello")
	p.keys("Enter")
	p.sees("Hello there.", "Ask, or say what to do")
	p.rests()
	open()
	p.text("/overview")
	p.keys("Enter")
	p.sees("Sessions", "▸  say hello", "○ go")
	p.keys("Up", "Enter")
	p.sees("It went through.", "Ask, or say what to do")
	p.rests()
	p.keys("C-d")
	p.restored(0)
}

// TestLeavingAWindowOnASessionEndsNothing: a session that works in the background is opened from
// the overview and left again while it works, on a prompt that was given there.
func TestLeavingAWindowOnASessionEndsNothing(t *testing.T) {
	u := newUser(t)
	open := u.gate("gate")
	p := u.openPane(100, 24)
	id := strings.TrimSpace(u.run("--background", "--permission-mode=ask", u.script("-- 1 --\ncall write: {\"path\":\"made.txt\",\"content\":\"one\"}\n-- 2 --\ntext: Written.\n-- 3 --\ncall bash: {\"command\":\"cat gate\"}\n-- 4 --\ntext: It went through.\n"), "make the file").wants(0).out)
	t.Cleanup(func() { u.run("stop", id) })
	p.begin("sessions")
	p.sees("▸? make the file")
	p.keys("Enter")
	p.sees("Edit this file?", "y yes")
	p.text("y")
	p.sees("Written.", "Ask, or say what to do")
	p.text("wait for it")
	p.keys("Enter")
	p.sees("$ cat gate", "esc: stop")
	p.text("/overview")
	p.keys("Enter")
	p.sees("Sessions", "working ──", "▸● make the file", "cat gate")
	open()
	p.sees("✓ make the file")
	p.keys("Space")
	p.sees("It went through.")
	p.text("q")
	p.restored(0)
}
