package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// undoing is the command that undoes also what nobody saw a command do, outside of a sandbox:
// nobody else writes in these tests.
func undoing(args ...string) []string {
	return append(append([]string{"undo"}, args...), "--unknown")
}

func (u *user) undo(args ...string) ran { return u.run(undoing(args...)...) }

// during runs a turn whose command makes the file "runs" and goes on when there is one named "go",
// and does something meanwhile.
func (u *user) during(command string, meanwhile func()) {
	u.t.Helper()
	s := u.start("-p", "--permission-mode=yolo", u.script("-- 1 --\n"+bash("touch runs; "+command+"; while [ ! -e go ]; do sleep 0.01; done; rm go runs")+"-- 2 --\ntext: done\n"), "work")
	waitFor(u.t, "the command", func() bool { return exists(filepath.Join(u.dir, "runs")) })
	meanwhile()
	u.sh("touch go")
	if err := s.cmd.Wait(); err != nil {
		u.t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestTurnsAreListedWhileTheSessionIsOpen(t *testing.T) {
	u := repository(t)
	u.during("echo c > made", func() {
		u.run("undo", "--list").wants(0, "work")
		u.run("undo").wants(10, "open in another process")
	})
	u.run("undo", "--list").wants(0, "1 file", "work")
}

func TestWhatTheUserSavesWhileACommandRunsStays(t *testing.T) {
	u := repository(t)
	before := u.shape()
	u.during("echo c > made; echo c > src/a.go", func() {
		u.sh("echo mine > src/b.txt; echo mine > mine; rm zeros; mkdir -p my/own; echo mine > my/own/file; chmod 600 run.sh")
	})
	r := u.run("undo").wants(7, "mine: it changed while a command ran", "perhaps by you", "src/b.txt: it changed", "zeros: it changed", "run.sh: it changed", "--unknown")
	for path, want := range map[string]string{"mine": "mine\n", "src/b.txt": "mine\n", "my/own/file": "mine\n"} {
		if got, err := os.ReadFile(filepath.Join(u.dir, path)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", path, got, err, want)
		}
	}
	if exists(filepath.Join(u.dir, "zeros")) {
		t.Error("what the user removed is there again")
	}
	if !exists(filepath.Join(u.dir, "made")) {
		t.Errorf("what nobody saw the command make is undone\n%s", r.out)
	}
	after := u.shape()
	u.run("undo", "--unknown").wants(0)
	u.wantTree("with all that nobody knows of", before)
	u.run("undo", "--unknown").wants(2, "nothing to undo")
	u.run("redo").wants(0)
	u.wantTree("as the first undo left it", after)
}

func TestTwoSessionsInOneFolderKeepTheirWork(t *testing.T) {
	u := repository(t)
	u.during("echo first > first; echo first > both", func() {
		u.sh("touch go2")
		second := u.script("-- 1 --\n" + bash("echo second > second; echo second > both; echo second > src/b.txt") + "-- 2 --\ncall write: {\"path\":\"written\",\"content\":\"second\"}\n-- 3 --\ntext: done\n")
		u.run("-p", "--permission-mode=yolo", second, "the second").wants(0)
	})
	u.run("session", "list").wants(0)
	u.run("undo", "--session", u.sessionOf("work"), "--unknown").wants(7, "written: another session changed it")
	kept := map[string]string{"written": "second"}
	for path, want := range kept {
		if got, err := os.ReadFile(filepath.Join(u.dir, path)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", path, got, err, want)
		}
	}
}

// What changed after a command had ended was not its doing, whatever --unknown allows.
func TestWhatChangedAfterTheCommandStays(t *testing.T) {
	u := repository(t)
	u.work("-- 1 --\n" + bash("echo c > made; echo c > src/a.go; echo c > src/b.txt; rm zeros") + "-- 2 --\ntext: done\n")
	u.sh("echo mine > src/b.txt; echo mine > made; echo mine > zeros")
	u.run("undo").wants(7, "src/a.go: it changed while a command ran", "adze undo --unknown")
	u.run("undo", "--unknown").wants(7, "restore  src/a.go", "made: ", "src/b.txt: ", "zeros: ")
	for _, path := range []string{"made", "src/b.txt", "zeros"} {
		u.holds(path, "mine\n")
	}
	u.sh("git diff --quiet HEAD -- src/a.go || [ $(cat src/a.go) != c ]")
}

// sessionOf is the id of the session in which this was asked first.
func (u *user) sessionOf(asked string) string {
	u.t.Helper()
	r := u.run("session", "list", "--json").wants(0)
	for line := range strings.Lines(r.out) {
		if strings.Contains(line, `"`+asked+`"`) {
			_, rest, _ := strings.Cut(line, `"id":"`)
			id, _, _ := strings.Cut(rest, `"`)
			return id
		}
	}
	u.t.Fatalf("no session %q in %s", asked, r.out)
	return ""
}
