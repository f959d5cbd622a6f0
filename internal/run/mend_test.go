package run_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestADamagedSessionIsRepairedAndGoesOn: verify names the damage, resuming names the repair, the
// repaired session is sound and goes on, and the old one is as it was.
func TestADamagedSessionIsRepairedAndGoesOn(t *testing.T) {
	u := newUser(t)
	u.run("-p", u.script(worker(2)), "--permission-mode", "yolo", "begin").wants(0)
	id, _, _ := strings.Cut(u.run("session", "list").out, " ")
	u.run("session", "verify", id).wants(0, "as they were written")
	u.run("session", "repair", id).wants(0, "there is nothing to repair")
	u.run("session", "verify", "--all").wants(0, "1 session checked, all sound")

	broken := *u
	broken.home = t.TempDir()
	broken.env = append(append([]string{}, u.env...), "ADZE_HOME="+broken.home)
	tamper(t, u.home, broken.home, "UPDATE entries SET data = replace(data, 'step 1', 'step X') WHERE type = 'message'; DELETE FROM entries WHERE type = 'outcome' AND seq > 8")
	verified := broken.run("session", "verify", id).wants(10, "entry ", "not as it was written", "adze sessions repair "+id)
	broken.run("session", "verify", "--all").wants(10, "! session "+id, "1 of 1 sessions are not sound", "sessions repair")
	var verdict struct {
		Sound    bool
		Findings []struct {
			Kind string
			Seq  int
		}
	}
	line, _, _ := strings.Cut(broken.run("session", "verify", id, "--json").wants(10).out, "\n")
	if err := json.Unmarshal([]byte(line), &verdict); err != nil || verdict.Sound || len(verdict.Findings) < 2 {
		t.Errorf("%v, %+v from %s", err, verdict, line)
	}
	broken.run("-p", "--resume", id, broken.script("-- 1 --\ntext: on\n"), "go on").wants(0, "adze sessions repair "+id)

	var report struct{ Session, Repaired string }
	if err := json.Unmarshal([]byte(broken.run("session", "repair", id, "--json").wants(0).out), &report); err != nil || report.Session != id || report.Repaired == "" {
		t.Fatalf("%v, %+v", err, report)
	}
	broken.run("session", "verify", report.Repaired).wants(0)
	if again := broken.run("session", "verify", id); again.code != 10 || !strings.HasPrefix(again.err, strings.SplitN(verified.err, "\n", 2)[0]) {
		t.Errorf("the old session is not as it was: %s, before %s", again.err, verified.err)
	}
	broken.run("-p", "--resume", report.Repaired, broken.script("-- 1 --\ntext: on\n"), "go on").wants(0, "on")
	broken.run("session", "repair", id).wants(0, "is repaired as", "dropped", "rebuilt", "adze --resume ", "the old one is as it was")
	broken.run("session", "repair", "nothing").wants(2, "no such session")
}

// TestASessionThatCannotBeReadNamesItsRepair: the log is well chained and does not hold what it
// says.
func TestASessionThatCannotBeReadNamesItsRepair(t *testing.T) {
	u := newUser(t)
	u.run("-p", u.script("-- 1 --\ntext: hi\n"), "begin").wants(0)
	id, _, _ := strings.Cut(u.run("session", "list").out, " ")
	broken := *u
	broken.home = t.TempDir()
	broken.env = append(append([]string{}, u.env...), "ADZE_HOME="+broken.home)
	tamper(t, u.home, broken.home, fmt.Sprintf("UPDATE entries SET data = '{' WHERE type = 'message' AND seq = %d", 2))
	broken.run("-p", "--resume", id, broken.script("-- 1 --\ntext: on\n"), "go on").wants(10, "entry 2", "adze sessions repair "+id)
	broken.run("session", "repair", id).wants(0, "is repaired as")
	broken.run("-p", "--continue", broken.script("-- 1 --\ntext: on\n"), "go on").wants(0, "on")
}
