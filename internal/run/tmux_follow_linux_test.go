//go:build unix

package run_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestASecondWindowAttachesAndTakesOver: it shows who has the session and what happens there,
// prompts there, takes it over, and the first one attaches then.
func TestASecondWindowAttachesAndTakesOver(t *testing.T) {
	u := newUser(t)
	first := u.openPane(100, 30)
	first.adze(u.script("-- 1 --\ntext: answer one\n-- 2 --\ntext: answer two\n-- 3 --\ntext: answer from here\n"))
	first.text("one")
	first.keys("Enter")
	first.sees("answer one", "F1: keys")
	id := u.newest()

	second := u.openPane(100, 30)
	second.adze("--resume", id, u.script("-- 1 --\ntext: answer three\n"))
	second.sees("answer one", "process ", "has this session", "/take")
	first.text("two")
	first.keys("Enter")
	first.sees("answer two")
	second.sees("two", "answer two")
	second.text("hello?")
	second.keys("Enter")
	first.sees("hello?", "answer from here")
	second.sees("hello?", "answer from here")
	u.run("-p", "--resume", id, u.script("-- 1 --\ntext: answer three\n"), "x").wants(10, "open in another process", "adze sessions follow")

	second.text("/take ")
	second.keys("Enter")
	first.sees("has this session", "attached")
	second.sees("answer two", "F1: keys")
	second.text("three")
	second.keys("Enter")
	second.sees("answer three")
	first.sees("three", "answer three")
	second.quit()
	first.sees("nobody has the session any more")
	first.keys("C-c")
	first.keys("C-c")
	allIsThereOnce(t, filepath.Join(u.home, "state", "sessions.db"), "one", "answer one", "two", "answer two", "hello?", "answer from here", "three", "answer three")

	r := u.run("session", "follow", id, "--json").wants(0, "answer three") // nobody has it: what is there, and the end
	for _, l := range strings.Split(strings.TrimSpace(r.out), "\n") {
		if !json.Valid([]byte(l)) {
			t.Errorf("no JSON: %q", l)
		}
	}
	u.run("session", "follow", id).wants(0, "> two", "answer two")
}

// TestAQuestionIsAnsweredInAnotherWindow: it is asked in both, and the first answer counts.
func TestAQuestionIsAnsweredInAnotherWindow(t *testing.T) {
	u := newUser(t)
	first := u.openPane(100, 30)
	first.adze("--permission-mode=ask", u.script("-- 1 --\ncall bash: {\"command\":\"echo x >>made.txt\",\"description\":\"Adds a line\"}\n-- 2 --\ntext: All is done.\n"))
	first.text("make it")
	first.keys("Enter")
	first.sees("made.txt", "y yes")
	second := u.openPane(100, 30)
	second.adze("attach", u.newest())
	second.sees("made.txt", "y yes")
	second.rests()
	second.keys("y")
	second.sees("All is done.")
	first.sees("All is done.", "from another terminal", "an answer")
	second.rests()
	second.keys("C-d")
	first.rests()
	first.text("/background more")
	first.keys("Enter")
	first.sees("it works in the background") // it waits for the answer to the same question there
	u.run("stop", u.newest()).wants(0, "stopped")
}
