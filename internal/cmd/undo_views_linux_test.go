package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"adze/internal/testkit/effort"
)

// duringView is during for a command in a view of the folder, which nobody sees before it has
// ended.
func (u *user) duringView(command string, meanwhile func()) {
	u.t.Helper()
	u.file("signal", "wait\n")
	s := u.start("-p", "--permission-mode=auto", u.script("-- 1 --\n"+bash("touch runs; "+command+"; while ! grep -q go signal; do sleep 0.01; done; rm runs")+"-- 2 --\ntext: done\n"), "work")
	waitFor(u.t, "the command", func() bool {
		found, _ := filepath.Glob(filepath.Join(u.home, "state", "sandbox", "views", "*", "view-*", "0", "upper", "runs"))
		return len(found) > 0
	})
	meanwhile()
	u.sh("echo go >signal")
	if err := s.cmd.Wait(); err != nil {
		u.t.Fatal(err)
	}
}

// TestUndoOfACommandIsExactBesideASecondWriter: while a command runs in its view, and after it, the
// user or another session writes, too. An undo without a word about doubt brings back all that the
// command changed and nothing else.
func TestUndoOfACommandIsExactBesideASecondWriter(t *testing.T) {
	effort.Needs(t, effort.Short, "it runs the program beside a writer, again and again")
	other := func(script string) func(*user) {
		return func(u *user) {
			u.run("-p", "--permission-mode=yolo", u.script("-- 1 --\n"+bash(script)+"-- 2 --\ntext: done\n"), "the other").wants(0)
		}
	}
	mine := func(script string) func(*user) { return func(u *user) { u.sh(script) } }
	for _, c := range []struct {
		name      string
		command   string
		meanwhile func(*user)
		after     func(*user)       // nil: nobody writes then
		undone    map[string]string // contents after the undo; "-": nothing is there
		refused   bool              // something is left as it is, because both wrote it
	}{
		{name: "the user saves other files", command: "echo c >made; echo c >src/a.go; rm zeros", meanwhile: mine("echo mine >src/b.txt; echo mine >mine; rm run.sh; mkdir -p my/own; echo mine >my/own/file; chmod 600 new"),
			undone: map[string]string{"made": "-", "src/a.go": "package a // two\n", "src/b.txt": "mine\n", "mine": "mine\n", "run.sh": "-", "my/own/file": "mine\n"}},
		{name: "the user saves in a folder that the command changes", command: "echo c >src/deep/c; echo c >src/deep/new; mkdir src/made; echo c >src/made/c", meanwhile: mine("echo mine >src/deep/mine; echo mine >>src/a.go"),
			undone: map[string]string{"src/deep/c": "deep", "src/deep/new": "-", "src/deep/mine": "mine\n", "src/made": "-", "src/a.go": "package a // two\nmine\n"}},
		{name: "the user saves the same file", command: "echo c >src/a.go; echo c >made", meanwhile: mine("echo mine >src/a.go"),
			undone: map[string]string{"src/a.go": "mine\n", "made": "-"}},
		{name: "the user makes the same file", command: "echo c >both; echo c >made", meanwhile: mine("echo mine >both"), undone: map[string]string{"both": "mine\n", "made": "-"}},
		{name: "the user removes what the command changes", command: "echo c >src/a.go; echo c >made", meanwhile: mine("rm -r src"), undone: map[string]string{"src/a.go": "-", "made": "-"}},
		{name: "the user saves after the command", command: "echo c >src/a.go; echo c >made; echo c >new", meanwhile: mine("echo mine >mine"), after: mine("echo later >made"), refused: true,
			undone: map[string]string{"src/a.go": "package a // two\n", "made": "later\n", "mine": "mine\n", "new": "untracked"}},
		{name: "the user commits", command: "echo c >made; rm new", meanwhile: mine("git commit -qam three"), undone: map[string]string{"made": "-", "new": "untracked"}},
		{name: "another session changes other files", command: "echo c >made; echo c >src/a.go", meanwhile: other("echo second >second; echo second >src/b.txt; rm zeros"),
			undone: map[string]string{"made": "-", "src/a.go": "package a // two\n", "second": "second\n", "src/b.txt": "second\n", "zeros": "-"}},
		{name: "another session changes the same file", command: "echo c >src/a.go; echo c >made", meanwhile: other("echo second >src/a.go"), undone: map[string]string{"src/a.go": "second\n", "made": "-"}},
		{name: "another session makes and removes folders", command: "mkdir -p x/y; echo c >x/y/c; rm -r empty", meanwhile: other("mkdir -p x2/y; echo second >x2/y/c; rm -r src/deep"),
			undone: map[string]string{"x": "-", "x2/y/c": "second\n", "src/deep": "-"}},
		{name: "another session works after the command", command: "echo c >made; echo c >src/a.go", meanwhile: mine("true"), after: other("echo second >src/a.go; echo second >second"), refused: true,
			undone: map[string]string{"made": "-", "src/a.go": "second\n", "second": "second\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := repository(t)
			sandboxed(t, u)
			u.duringView(c.command, func() { c.meanwhile(u) })
			after := u.shape()
			if c.after != nil {
				c.after(u)
			}
			code := map[bool]int{false: 0, true: 7}[c.refused]
			r := u.run("undo", "--session", u.sessionOf("work")).wants(code)
			for path, want := range c.undone {
				got, err := os.ReadFile(filepath.Join(u.dir, path))
				if there := exists(filepath.Join(u.dir, path)); want == "-" && there || want != "-" && (err != nil || string(got) != want) {
					t.Errorf("%s: %v %q, want %q\n%s", path, there, got, want, r.out)
				}
			}
			if c.after == nil {
				u.run("redo", "--session", u.sessionOf("work")).wants(0)
				u.wantTree(fmt.Sprint("redone, beside ", c.name), after)
			}
		})
	}
}
