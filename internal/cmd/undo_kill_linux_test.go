package cmd_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAKillInTheMiddleOfACallIsNobodysChange kills adze while a command runs: what changed is
// refused until the user says that it was the command, in the log of the dead process and after
// it was gone on with.
func TestAKillInTheMiddleOfACallIsNobodysChange(t *testing.T) {
	u := repository(t)
	before := u.shape()
	s := u.start("-p", "--output-format=stream-json", "--permission-mode=yolo", u.script("-- 1 --\n"+bash("echo half > src/a.go; rm -r src/deep; echo half > made; echo begun > ../begun-$PPID; while [ ! -e never ]; do sleep 0.05; done")+"-- 2 --\ntext: done\n"), "work")
	s.until(`"type":"tool_start"`)
	waitFor(t, "the command has changed files", func() bool {
		got, err := os.ReadFile(filepath.Join(u.dir, "made"))
		return err == nil && len(got) > 0
	})
	s.signal(syscall.SIGKILL)
	check := func(when string) {
		t.Helper()
		r := u.run("undo", "--dry-run").wants(7, "src/a.go: adze ended while this changed", "--unknown puts back")
		if strings.Contains(r.out, "restore  src/a.go") {
			t.Errorf("%s what nobody knows of would be put back: %s", when, r.out)
		}
	}
	check("after the kill")
	u.goOn("-- 1 --\n" + bash("echo more > more") + "-- 2 --\ntext: on\n")
	u.undo().wants(0, "turn 2", "remove   more")
	check("gone on with")
	u.undo("--unknown").wants(0, "turn 1")
	u.wantTree("with what nobody knew of undone", before)
	u.run("audit", "verify").wants(0, "as they were written")
}

// TestWhatHooksChangeIsUndone: of one that runs before a call by itself, of one that formats after
// an edit with the call.
func TestWhatHooksChangeIsUndone(t *testing.T) {
	needs(t, "bash")
	u := newUser(t)
	u.file("a.txt", "one\n")
	before := u.shape()
	u.hooks(`{"hooks": {"before_tool": [{"tools": "bash", "command": "echo before >> hooked"}], "after_tool": [{"tools": "bash", "command": "sed -i s/two/TWO/ a.txt"}]}}`)
	u.work("-- 1 --\n" + bash("echo two > a.txt") + "-- 2 --\ntext: done\n")
	u.holds("a.txt", "TWO\n")
	u.holds("hooked", "before\n")
	u.undo().wants(0, "restore  a.txt", "remove   hooked")
	u.wantTree("undone", before)
}

// TestNoCommandReadsWhatUndoKeeps: it may hold what the user has forbidden to read by now.
func TestNoCommandReadsWhatUndoKeeps(t *testing.T) {
	needs(t, "bash")
	u := newUser(t)
	sandboxed(t, u)
	u.file("a.txt", "one\n")
	kept := filepath.Join(u.home, "state", "undo")
	u.run("-p", "--sandbox=required", "--permission-mode=yolo", u.script("-- 1 --\n"+bash("echo x > a.txt; d=$(echo "+base64.StdEncoding.EncodeToString([]byte(kept))+" | base64 -d); ls $d/* > seen; cp -r $d stolen; true")+"-- 2 --\nexpect bash completed: \ntext: done\n"), "work").wants(0)
	if found, _ := filepath.Glob(filepath.Join(kept, "*", "packs", "*")); len(found) == 0 {
		t.Fatal("nothing was kept")
	}
	if got, _ := os.ReadFile(filepath.Join(u.dir, "seen")); len(got) > 0 {
		t.Errorf("a command saw %s", got)
	}
	if found, _ := filepath.Glob(filepath.Join(u.dir, "stolen", "*", "*")); len(found) > 0 {
		t.Errorf("a command has copied %s", found)
	}
	if r := u.undo().wants(0, "restore  a.txt"); strings.Contains(r.out, ".vscode") {
		t.Errorf("folders of the sandbox are taken for changes: %s", r.out)
	}
	if r := u.undo("--list", "--json").wants(0); !strings.Contains(r.out, `"paths":["a.txt","seen"]`) {
		t.Errorf("the turn is said to have changed %s", r.out)
	}
}

// TestARunWithoutCallsKeepsNothing: looking at a folder is paid for by who calls.
func TestARunWithoutCallsKeepsNothing(t *testing.T) {
	u := newUser(t)
	u.file("a.txt", "one\n")
	kept := filepath.Join(u.home, "state", "undo")
	u.run("-p", u.script("-- 1 --\ntext: done\n"), "hi").wants(0)
	u.run("-p", "--permission-mode=yolo", "--no-session", u.script("-- 1 --\ncall write: {\"path\":\"new\",\"content\":\"x\"}\n-- 2 --\ntext: done\n"), "hi").wants(0)
	u.configure(`{"undo": {"off": true}}`)
	u.work("-- 1 --\ncall write: {\"path\":\"newer\",\"content\":\"x\"}\n-- 2 --\ntext: done\n")
	if _, err := os.Stat(kept); err == nil {
		t.Error("states were kept")
	}
	u.undo().wants(2, "nothing to undo")
}

// TestACallDoesNotRunWhereNothingCanBeKept: unless the user says so in the configuration.
func TestACallDoesNotRunWhereNothingCanBeKept(t *testing.T) {
	needs(t, "bash")
	u := newUser(t)
	u.file("a.txt", "one\n")
	if err := os.MkdirAll(filepath.Join(u.home, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(u.home, "state", "undo"), []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	call := "-- 1 --\n" + bash("echo x > a.txt") + "-- 2 --\nexpect bash "
	u.run("-p", "--permission-mode=yolo", u.script(call+"failed: not run, because the files could not be kept\ntext: done\n"), "work").wants(8, "adze doctor")
	u.holds("a.txt", "one\n")
	u.configure(`{"undo": {"off": true}}`)
	u.work(call + "completed: \ntext: done\n")
	u.holds("a.txt", "x\n")
}

// TestForgottenPathsLeaveTheStore and are not covered from then on; the doctor tells where the
// store is.
func TestForgottenPathsLeaveTheStore(t *testing.T) {
	needs(t, "bash")
	u := newUser(t)
	u.file(".env", "PLANTED-BEFORE-0123456789\n")
	u.file("a.txt", "one\n")
	if c := u.doctor(0, "--offline")["undo"]; c.State != "ok" || !strings.Contains(c.Found, "from the first call on") {
		t.Errorf("before: %+v", c)
	}
	u.work("-- 1 --\n" + bash("echo PLANTED-AFTER-0123456789 > .env; echo two > a.txt") + "-- 2 --\ntext: done\n")
	holds := func() (found []string) {
		_ = filepath.WalkDir(filepath.Join(u.home, "state", "undo"), func(path string, e os.DirEntry, err error) error {
			if raw, rerr := os.ReadFile(path); err == nil && rerr == nil && strings.Contains(string(raw), "PLANTED-") {
				found = append(found, path)
			}
			return nil
		})
		return found
	}
	if len(holds()) == 0 {
		t.Fatal("the file was not kept, so that nothing is shown here")
	}
	u.undo("--forget", ".env").wants(0, "2 contents are dropped", ".env")
	if found := holds(); len(found) > 0 {
		t.Errorf("it is still in %s", found)
	}
	u.undo().wants(7, "restore  a.txt", ".env: ")
	u.holds(".env", "PLANTED-AFTER-0123456789\n")
	if c := u.doctor(0, "--offline")["undo"]; c.State != "ok" || !strings.Contains(c.Found, "KB in ") {
		t.Errorf("after: %+v", c)
	}
	u.configure(`{"undo": {"off": true}}`)
	if c := u.doctor(0, "--offline")["undo"]; !strings.Contains(c.Found, "off") {
		t.Errorf("off: %+v", c)
	}
}
