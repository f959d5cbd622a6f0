package cmd_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/sessiondb"
	"adze/session"
	"adze/tool"
)

// The log of a real run is changed at its start, in it and at its end; the first bad entry is named.
// Package sessiondb changes one in every way.
func TestAuditVerifyNamesTheFirstBadEntry(t *testing.T) {
	u := newUser(t)
	model := u.script(`-- 1 --
call write: {"path":"a","content":"x"}
call bash: {"command":"echo one"}
call bash: {"command":"touch no"}
-- 2 --
text: end
`)
	u.run("-p", model, "--permission-mode", "edits", "--allow", "execute(echo **)", "hi").wants(0)
	id, _, _ := strings.Cut(u.run("session", "list").out, " ")
	u.run("-p", u.script("-- 1 --\ntext: sound\n"), "another session").wants(0)
	sound := u.run("audit", "verify", id).wants(0)
	var entries int
	if _, err := fmt.Sscanf(sound.out, id+": all %d entries", &entries); err != nil || entries < 9 {
		t.Fatalf("%d entries, %v: %s", entries, err, sound.out)
	}
	anchor := strings.TrimSpace(sound.out[strings.LastIndex(sound.out, " "):])
	u.run("audit", "verify", id, "--anchor", anchor).wants(0)
	u.run("audit", "verify", id, "--anchor", "3:"+strings.Repeat("0", 64)).wants(10, "entry 3", "anchor")

	original := u.home
	for bad, change := range map[int]string{
		1:       "DELETE FROM entries WHERE seq = 1 AND session = 1",
		4:       "UPDATE entries SET data = substr(data, 1, length(data)/2) || '~' || substr(data, length(data)/2 + 2) WHERE seq = 4 AND session = 1",
		entries: fmt.Sprintf("DELETE FROM entries WHERE seq >= %d AND session = 1", entries),
	} {
		u := *u
		u.home = t.TempDir()
		u.env = append(append([]string{}, u.env...), "ADZE_HOME="+u.home)
		tamper(t, original, u.home, change)
		u.run("audit", "verify", id).wants(10, fmt.Sprintf("session %s: entry %d ", id, bad), "hint: ")
		u.run("audit", "verify", "--all").wants(10, fmt.Sprintf("! session %s: entry %d ", id, bad), "are as they were written", "1 of 2 sessions are not sound")
	}
}

// tamper copies a database and changes the copy behind the program's back.
func tamper(t *testing.T, from, to, change string) {
	t.Helper()
	path := filepath.Join(to, "state", "sessions.db")
	if err := os.CopyFS(filepath.Dir(path), os.DirFS(filepath.Join(from, "state"))); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("DROP TRIGGER entries_keep; DROP TRIGGER entries_stay; DROP TRIGGER entries_count;" + change); err != nil {
		t.Fatal(err)
	}
}

// A chain that holds does not excuse what stands in it.
func TestAuditVerifyFindsAnEffectWithoutADecision(t *testing.T) {
	u := newUser(t)
	s, err := sessiondb.Open(t.Context(), filepath.Join(u.home, "state", "sessions.db"), sessiondb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	record := tool.Record{Message: "m2", Call: "c1", Tool: "write", Args: json.RawMessage(`{}`), Needs: []tool.Need{{Permission: tool.Write, Target: "a\x1b[2J"}}}
	outcome := record.Aborted("done")
	outcome.Status, outcome.Record.Status = tool.Completed, tool.Completed
	raw, err := json.Marshal(outcome)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), "one", session.Entry{Type: session.OutcomeEntry, Data: raw}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	u.run("audit", "verify", "one").wants(10, "session one: entry 1 is an effect without a decision", "adze audit show")
	if r := u.run("audit", "show", "one").wants(0, "! entry 1 is an effect"); strings.Contains(r.out, "\x1b") {
		t.Error("a control sequence reached the terminal")
	}
}
