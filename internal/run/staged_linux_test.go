package run_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// stagedTurn is a turn of twelve edits and three commands, which see each other's work.
func stagedTurn() string {
	var steps strings.Builder
	steps.WriteString("-- 1 --\n")
	for i := range 12 {
		steps.WriteString(`call write: {"path":"made/` + string(rune('a'+i)) + `","content":"` + string(rune('a'+i)) + `\n"}` + "\n")
	}
	steps.WriteString("-- 2 --\n" + bash("cat made/a; echo more >> made/b; rm run.sh") + bash("mkdir deep; echo x > deep/x; cat made/l") + bash("cat deep/x made/b; false") +
		`call edit: {"path":"made/c","old_string":"c","new_string":"see"}` + "\n" +
		"-- 3 --\nexpect bash completed: a\nexpect bash completed: l\nexpect bash failed: x\n" + `call read: {"path":"deep/x"}` + "\n" + `call grep: {"pattern":"more"}` + "\n" + `call list: {"path":"."}` + "\n" +
		"-- 4 --\nexpect read completed: x\nexpect grep completed: made/b\nexpect list completed: deep/\ntext: done\n")
	return steps.String()
}

// resultLine is the review in the result of a run.
func reviewOf(t *testing.T, out string) (r struct {
	Changed []string `json:"files_changed"`
	Staged  *struct {
		Decision string
		Files    []struct{ Path, Change string }
		Commands []struct {
			Command string
			Exit    *int
		}
	}
}) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return r
}

// TestWaitingChangesGoWithTheirSession, and what waits of another session stays.
func TestWaitingChangesGoWithTheirSession(t *testing.T) {
	u := repository(t)
	sandboxed(t, u)
	views := func() []string {
		found, _ := filepath.Glob(filepath.Join(u.home, "state", "sandbox", "views", "*", "view-stage-*"))
		return found
	}
	for range 2 {
		u.run("-p", "--permission-mode=staged", u.script(stagedTurn()), "work").wants(0)
	}
	if len(views()) != 2 {
		t.Fatalf("there are %v", views())
	}
	id, _, _ := strings.Cut(u.run("session", "list").out, " ")
	u.run("session", "delete", "--yes", id).wants(0, "removed")
	if len(views()) != 1 {
		t.Errorf("left are %v", views())
	}
	if left, _ := filepath.Glob(filepath.Join(u.home, "state", "sandbox", "views", "*", "done-*")); len(left) > 0 {
		t.Errorf("%v are there", left)
	}
	u.run("-p", "--continue", "--staged=take").wants(0)
}

func TestAStagedTurnAsksNothingAndIsTakenOrDroppedAsAWhole(t *testing.T) {
	u := repository(t)
	sandboxed(t, u)
	before := state(t, u)
	r := u.run("-p", "--permission-mode=staged", "--output-format=json", u.script(stagedTurn()), "work").wants(0)
	if now := state(t, u); now != before {
		t.Fatalf("the workspace was changed, from\n%s\nto\n%s", before, now)
	}
	got := reviewOf(t, r.out)
	if got.Staged == nil || got.Staged.Decision != "kept" || len(got.Staged.Files) != 14 || len(got.Staged.Commands) != 3 || len(got.Changed) > 0 {
		t.Fatalf("%s", r.out)
	}
	if exit := got.Staged.Commands[2].Exit; exit == nil || *exit != 1 {
		t.Errorf("the command that failed: %+v", got.Staged.Commands[2])
	}
	// It waits for the next process, and is taken in one step, which one undo takes back.
	r = u.run("-p", "--continue", "--staged=take", "--output-format=json").wants(0)
	if got := reviewOf(t, r.out); got.Staged == nil || got.Staged.Decision != "taken" {
		t.Errorf("%s", r.out)
	}
	for name, want := range map[string]string{"made/b": "b\nmore\n", "made/c": "see\n", "deep/x": "x\n"} {
		if data, err := os.ReadFile(filepath.Join(u.dir, name)); string(data) != want {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(u.dir, "run.sh")); err == nil {
		t.Error("run.sh is still there")
	}
	u.run("-p", "--continue", "--staged=take").wants(2)
	u.run("undo").wants(0)
	if now := state(t, u); now != before {
		t.Errorf("after one undo\n%s\nwas\n%s", now, before)
	}
	// Dropped at once.
	r = u.run("-p", "--permission-mode=staged", "--staged=drop", "--output-format=stream-json", u.script(stagedTurn()), "work").wants(0)
	if got := reviewOf(t, r.out); got.Staged == nil || got.Staged.Decision != "dropped" {
		t.Errorf("%s", r.out)
	}
	if now := state(t, u); now != before {
		t.Errorf("after a drop\n%s\nwas\n%s", now, before)
	}
}

func TestAStagedTurnNeedsAViewAndSaysSo(t *testing.T) {
	u := newUser(t)
	r := u.run("-p", "--permission-mode=staged", "--sandbox=off", u.script(stagedTurn()), "work").wants(2)
	if !strings.Contains(r.err, "needs a view of the workspace") || !strings.Contains(r.err, "review: each") {
		t.Error(r.err)
	}
	u.run("-p", "--permission-mode=staged", "--no-session", u.script(stagedTurn()), "work").wants(2)
	u.run("--staged=take", "work").wants(2)
}

func TestAConflictIsNamedAndNothingIsTaken(t *testing.T) {
	u := repository(t)
	sandboxed(t, u)
	u.run("-p", "--permission-mode=staged", u.script(stagedTurn()), "work").wants(0)
	u.file("run.sh", "mine\n")
	before := state(t, u)
	r := u.run("-p", "--continue", "--staged=take").wants(8)
	if !strings.Contains(r.err, "run.sh changed in the workspace") {
		t.Error(r.err)
	}
	if now := state(t, u); now != before {
		t.Errorf("a part was taken:\n%s\nwas\n%s", now, before)
	}
	u.run("-p", "--continue", "--staged=drop").wants(0)
}

func TestNothingGoesOnInTheBackgroundOfAStagedTurn(t *testing.T) {
	u := repository(t)
	sandboxed(t, u)
	steps := "-- 1 --\ncall bash: {\"command\":\"sleep 100\",\"background\":true}\ncall git_status: {}\n" +
		"-- 2 --\nexpect bash denied: nothing goes on in the background in a staged turn\nexpect git_status failed: with bash\ntext: done\n"
	u.run("-p", "--permission-mode=staged", u.script(steps), "work").wants(0)
}
