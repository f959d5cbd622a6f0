package run_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestAQuestionWithoutAPersonIsDenied: headless the model's question is in the result, for whoever
// reads it, and the tool is not among those that a request shows.
func TestAQuestionWithoutAPersonIsDenied(t *testing.T) {
	u := newUser(t)
	steps := "-- 1 --\ncall ask: {\"question\":\"Which database?\",\"choices\":[\"SQLite\",\"Postgres\"]}\n" +
		"-- 2 --\nexpect ask denied: Which database\\? \\(choices: SQLite; Postgres\\)\ntext: I took SQLite.\n"
	r := u.run("-p", "--output-format", "stream-json", "--permission-mode", "plan", u.script(steps), "go")
	r.wants(0, "I took SQLite.")
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	var last struct {
		Denied []struct{ Tool, Reason string }
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	if len(last.Denied) != 1 || last.Denied[0].Tool != "ask" || !strings.Contains(last.Denied[0].Reason, "Which database?") {
		t.Errorf("denied: %+v", last.Denied)
	}
	var first struct{ Tools []string }
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || len(first.Tools) < 10 {
		t.Errorf("tools %v %v", first.Tools, err)
	}
	for _, name := range first.Tools {
		if name == "ask" {
			t.Errorf("ask is offered where nobody can answer: %v", first.Tools)
		}
	}
}

// TestTheModelAsksInATerminal: main conversation and subagent reach the user, in plan mode too,
// and Esc ends it.
func TestTheModelAsksInATerminal(t *testing.T) {
	u := newUser(t)
	p := u.openPane(100, 30)
	p.begin(u.script("-- 1 --\ncall ask: {\"question\":\"Which database?\",\"choices\":[\"SQLite\",\"Postgres\"]}\n"+
		"-- 2 --\nexpect ask completed: The person chose: Postgres\ncall task: {\"description\":\"look\",\"prompt\":\"look\"}\n"+
		"-- explore: 1 --\ncall ask: {\"question\":\"Where?\"}\n"+
		"-- explore: 2 --\nexpect ask completed: The person answered: everywhere\ntext: I looked everywhere.\n"+
		"-- 3 --\nexpect task completed: I looked everywhere\ntext: It is Postgres, everywhere.\ncall ask: {\"question\":\"Go on?\",\"choices\":[\"yes\"]}\n"), "--permission-mode=plan")
	p.sees("Ask, or say what to do")
	p.shell("go")
	p.sees("the model asks", "1 SQLite", "2 Postgres", "enter answer")
	p.keys("Down", "Enter")
	p.sees("the subagent explore: look asks", "Where?", "enter answer")
	p.shell("everywhere")
	p.sees("Go on?", "1 yes", "enter answer")
	p.keys("Escape")
	p.sees("⊘ ask", "stopped by you")
}
