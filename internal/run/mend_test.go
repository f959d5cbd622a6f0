package run_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestABrokenSessionIsOnlyRead: its log is shown, nothing is added to it, and a copy of its sound
// turns goes on.
func TestABrokenSessionIsOnlyRead(t *testing.T) {
	u := newUser(t)
	u.run("-p", u.script("-- 1 --\ntext: first answer\n"), "first").wants(0)
	id, _, _ := strings.Cut(u.run("sessions", "list").out, " ")
	u.run("-p", "--resume", id, u.script("-- 1 --\ntext: second answer\n"), "second").wants(0)
	u.run("-p", "--resume", id, u.script("-- 1 --\ntext: third answer\n"), "third").wants(0)
	for name, change := range map[string]string{
		"changed": "UPDATE entries SET data = replace(data, 'third', 'other') WHERE type = 'message'",
		"cut":     "UPDATE entries SET data = substr(data, 1, 9) WHERE type = 'message' AND data LIKE '%third%'",
		"retyped": "UPDATE entries SET time = 'noon' WHERE type = 'message' AND data LIKE '%third answer%'",
		"dropped": "DELETE FROM entries WHERE type = 'message' AND data LIKE '%third answer%'",
	} {
		t.Run(name, func(t *testing.T) {
			u := *u
			from := u.home
			u.t, u.home = t, t.TempDir()
			u.env = append(append([]string{}, u.env...), "ADZE_HOME="+u.home)
			tamper(t, from, u.home, change)
			on := u.script("-- 1 --\ntext: fourth answer\n")
			fork := fmt.Sprintf("adze sessions fork %s --at 2", id)
			before := rowsOf(t, u.home)
			u.run("-p", "--resume", id, on, "go on").wants(10, "session "+id+": entry ", fork)
			u.run("-p", "--continue", on, "go on").wants(10, fork)
			u.run("-p", "--resume", id, "--fork", on, "go on").wants(10, fork)
			u.run("sessions", "fork", id, "--at", "3").wants(10, fork)
			if after := rowsOf(t, u.home); after != before {
				t.Errorf("there are %d entries, there were %d", after, before)
			}
			u.run("sessions", "verify", "--all").wants(10, "! session "+id, "1 of 1 sessions are not sound")
			copied := strings.TrimSpace(u.run("sessions", "fork", id, "--at", "2").wants(0).out)
			u.run("audit", "verify", copied).wants(0, "as they were written")
			u.run("-p", "--resume", copied, on, "go on").wants(0, "fourth answer")
			if shown := u.run("sessions", "show", copied).wants(0, "second answer", "fourth answer"); strings.Contains(shown.out, "third") {
				t.Errorf("the copy has the turn that is not sound:\n%s", shown.out)
			}
		})
	}
	u.run("sessions", "verify", id).wants(0, "as they were written")
	u.run("sessions", "repair", id).wants(2, "adze sessions repair is gone", "adze sessions fork ID --at TURN")
}

// rowsOf counts the entries of a store.
func rowsOf(t *testing.T, home string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(home, "state", "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT count(*) FROM entries").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
