package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestThePersonsOwnHandsInATerminal completes a file, runs a command, writes in an editor, and
// finds all of it again in a later session.
func TestThePersonsOwnHandsInATerminal(t *testing.T) {
	u := newUser(t)
	u.file("src/parser.go", "package src\n")
	u.file(".gitignore", "*.log\n")
	u.file("parser.log", "noise\n")
	editor := u.file("editor", "#!/bin/sh\nprintf ' and edited' >> \"$1\"\n")
	if err := os.Chmod(editor, 0o755); err != nil {
		t.Fatal(err)
	}
	u.env = append(u.env, "VISUAL="+editor)
	p := u.openPane(80, 24)
	model := u.script("-- 1 --\nexpect prompt: src/parser.go and edited\ntext: I saw the command: done.\n")
	p.adze(model)
	p.text("!echo from $((40+2))")
	p.keys("Enter")
	p.sees("✓ $ echo", "from 42") // not asked: the user wrote it
	p.text("look at @prsr")
	now := p.sees("▸ src/parser.go")
	if strings.Contains(now, "parser.log") {
		t.Errorf("an ignored file is offered:\n%s", now)
	}
	p.keys("Tab")
	p.sees("❯ look at @src/parser.go")
	p.keys("BSpace", "C-g")
	p.sees("❯ look at @src/parser.go and edited")
	p.keys("Enter")
	p.sees("┃ look at @src/parser.go and edited", "I saw the command: done.")
	p.quit()
	p.adze(u.script("-- 1 --\ntext: New.\n"))
	p.keys("Up")
	p.sees("❯ look at @src/parser.go and edited")
	p.keys("Up", "Up")
	p.sees("❯ !echo from $((40+2))", "nothing older")
	p.keys("C-u")
	p.quit()
}

func TestSessionsAreExchangedInATerminal(t *testing.T) {
	u := newUser(t)
	p := u.openPane(80, 24)
	p.adze(u.script("-- 1 --\ntext: The old answer.\n"))
	p.text("the old question")
	p.keys("Enter")
	p.sees("The old answer.")
	p.quit()
	p.adze(u.script("-- 1 --\ntext: The new answer.\n"))
	p.keys("F2")
	p.sees("sessions ·", "the old question")
	p.keys("Enter")
	p.sees("┃ the old question", "The old answer.", "F1: keys")
	p.text("/new")
	p.keys("Enter")
	p.sees("stops the agent; /undo")
	p.text("/model nobody/here")
	p.keys("Enter")
	p.sees("error:", `there is no provider "nobody"`, "stops the agent; /undo") // back where we were
	if _, err := os.Stat(filepath.Join(u.home, "config.json")); err == nil {
		t.Error("a model that cannot be used was kept as the default")
	}
	p.text("the new question")
	p.keys("Enter")
	p.sees("The new answer.")
	p.quit()
}

func TestAMessageIsTakenBackInATerminal(t *testing.T) {
	u := newUser(t)
	u.gate("gate")
	p := u.openPane(80, 24)
	p.adze(u.script("-- 1 --\ntext: Running.\ncall bash: {\"command\":\"echo begun; cat gate\"}\n"+
		"-- 2 --\nexpect prompt: wait less\ntext: Much better.\n"), "--permission-mode=yolo")
	p.text("wait long")
	p.keys("Enter")
	p.sees("│ begun") // its output; the command itself says begun too
	p.keys("Escape")
	p.sees("stopped by you")
	p.keys("Escape")
	p.sees("❯ wait long", "your message is back")
	p.keys("C-w")
	p.text("less")
	p.keys("Enter")
	p.sees("┃ wait less", "Much better.")
	p.quit()
	p.begin(u.script("-- 1 --\ntext: x\n"), "--continue")
	now := p.sees("┃ wait less", "Much better.", "F1: keys")
	if strings.Contains(now, "wait long") {
		t.Errorf("what was taken back is there again:\n%s", now)
	}
	p.quit()
}

// TestOneCallIsAbortedInATerminal: the agent goes on and knows who did it.
func TestOneCallIsAbortedInATerminal(t *testing.T) {
	u := newUser(t)
	u.gate("gate")
	p := u.openPane(80, 24)
	p.adze(u.script("-- 1 --\ncall bash: {\"command\":\"echo begun; cat gate; touch late\"}\n"+
		"-- 2 --\nexpect bash aborted: the person aborted this call\ntext: I go on without it.\n"), "--permission-mode=yolo")
	p.text("wait")
	p.keys("Enter")
	p.sees("│ begun") // its output; the command itself says begun too
	p.text("change of plan")
	p.keys("C-x")
	p.sees("⊘ $ echo begun", "I go on without it.", "❯ change of plan")
	p.keys("C-u")
	p.quit()
	if _, err := os.Stat(filepath.Join(u.dir, "late")); err == nil {
		t.Error("the aborted command went on")
	}
}

// TestASavedRuleIsNotAskedAgainInATerminal, neither in this session nor in the next one.
func TestASavedRuleIsNotAskedAgainInATerminal(t *testing.T) {
	u := newUser(t)
	p := u.openPane(80, 24)
	steps := "-- 1 --\ncall bash: {\"command\":\"mkdir -p made\"}\n-- 2 --\nexpect bash completed: \ntext: It is there.\n"
	p.adze(u.script(steps))
	p.text("make it")
	p.keys("Enter")
	p.sees("execute(mkdir **)", "with any options", "a all like this")
	p.keys("Tab")
	p.sees("kept in")
	p.keys("a")
	p.sees("It is there.")
	p.quit()
	p.adze(u.script(steps))
	p.text("make it again")
	p.keys("Enter")
	p.sees("It is there.")
	p.quit()
}
