package run_test

import (
	"testing"
)

// TestEscapeStopsThenTakesTheMessageBack: what was written stays until the user takes the message
// back, and then it is theirs to edit and to send again.
func TestEscapeStopsThenTakesTheMessageBack(t *testing.T) {
	u := newUser(t)
	u.serveHalf()
	p := u.openPane(80, 24)
	p.adze("--model=openai/test")
	p.text("tell me")
	p.keys("Enter")
	p.sees("┃ tell me", "This is half of", "esc: stop")
	p.keys("Escape")
	p.sees("This is half of", "stopped by you", "Ask, or say what to do")
	p.rests()
	p.keys("Escape")
	p.sees("❯ tell me", "your message is back")
	p.gone("This is half of")
	p.text(" more")
	p.keys("Enter")
	p.sees("┃ tell me more", "This is half of", "esc: stop")
	p.keys("C-c", "C-c")
	p.restored(0)
	p.begin("--model=openai/test", "--continue")
	p.sees("┃ tell me more", "This is half of", "Ask, or say what to do")
	p.quit()
}

// TestAnAbortedCommandIsTold: escape ends a command of the scripted model, keeps what it printed,
// and the prompt takes keys at once.
func TestAnAbortedCommandIsTold(t *testing.T) {
	u := newUser(t)
	u.gate("gate")
	p := u.openPane(80, 24)
	p.adze(u.script("-- 1 --\ntext: I run it.\ncall bash: {\"command\":\"echo begun; cat gate\"}\n"), "--permission-mode=yolo")
	p.text("run")
	p.keys("Enter")
	p.sees("I run it.", "begun", "esc: stop")
	p.keys("Escape")
	p.sees("I run it.", "⊘ $ echo begun", "stopped by you")
	p.text("typed at once")
	p.sees("❯ typed at once")
	p.keys("C-u")
	p.quit()
}

// TestQuittingWhileTheAgentWorksIsConfirmed, and what it did is saved.
func TestQuittingWhileTheAgentWorksIsConfirmed(t *testing.T) {
	u := newUser(t)
	u.gate("gate")
	p := u.openPane(80, 24)
	p.adze(u.script("-- 1 --\ncall bash: {\"command\":\"echo begun; cat gate\"}\n"), "--permission-mode=yolo")
	p.text("run")
	p.keys("Enter")
	p.sees("begun")
	p.keys("C-d")
	p.sees("the agent is working", "▸ stay")
	p.keys("Enter")
	p.gone("▸ stay")
	p.sees("begun", "esc: stop")
	p.keys("C-d")
	p.sees("▸ stay")
	p.keys("Down", "Enter")
	p.restored(0)
}
