package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// calcRepository makes a repository named calc and works in it; what it returns runs shell there.
func calcRepository(u *user) func(dir, script string) string {
	u.t.Helper()
	for _, program := range []string{"git", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			u.t.Skip(program + " is not installed")
		}
	}
	top, err := filepath.EvalSymlinks(u.dir)
	if err != nil {
		u.t.Fatal(err)
	}
	sh := func(dir, script string) string {
		u.t.Helper()
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir, cmd.Env = dir, u.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			u.t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	u.dir = filepath.Join(top, "calc")
	sh(top, "git init -q -b main calc && cd calc && git config user.name a && git config user.email a@b && echo one > a.txt && git add . && git commit -qm start")
	return sh
}

// Two sessions at once in two work trees of one repository read, write and commit without meeting,
// and each is gone on with where it was.
func TestTwoSessionsInTwoWorkTrees(t *testing.T) {
	u := newUser(t)
	sh := calcRepository(u)
	works := func(name string) string {
		path := filepath.Join(u.home, name+".txtar")
		steps := `# ` + name + `
-- 1 --
call read: {"path":"a.txt"}
-- 2 --
call write: {"path":"a.txt","content":"` + name + `\n"}
-- 3 --
call bash: {"command":"git commit -qam ` + name + ` && git log --format=%s && cat a.txt"}
-- 4 --
text: done
`
		if err := os.WriteFile(path, []byte(steps), 0o600); err != nil {
			t.Fatal(err)
		}
		return "--model=script/" + path
	}
	var both sync.WaitGroup
	for _, name := range []string{"red", "blue"} {
		both.Go(func() {
			r := u.run("-p", works(name), "--worktree", name, "--permission-mode", "yolo", "--output-format", "json", "go")
			if r.code != 0 || !strings.Contains(r.out, `"text":"done"`) {
				t.Errorf("%s: exit code %d\n%s\n%s", name, r.code, r.out, r.err)
			}
		})
	}
	both.Wait()
	if t.Failed() {
		return
	}
	got := sh(u.dir, "cat a.txt; git log --format=%s main; git log --format=%s red; git log --format=%s blue; git status --porcelain; cat ../calc-red/a.txt ../calc-blue/a.txt")
	if want := "one\nstart\nred\nstart\nblue\nstart\nred\nblue"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	u.run("-p", u.script("-- 1 --\nexpect prompt: ^more$\ntext: yes\n"), "-w", "red", "--continue", "more").wants(0, "working in the work tree red")
	u.run("-p", u.script("-- 1 --\ntext: yes\n"), "--continue", "more").wants(2, "no session of")
	list := u.run("worktree", "list", "--json").wants(0, `"name":"blue"`, `"unmerged":1`, `"sessions":["`)
	if n := strings.Count(list.out, "\n"); n != 2 {
		t.Errorf("%d lines: %s", n, list.out)
	}
	u.run("worktree", "remove", "red").wants(7, "stays: it would lose 1 commit that is on no other branch")
	u.run("worktree", "remove", "red", "--force").wants(0, "removed, with 1 commit", "git branch red ")
	sh(u.dir, "git merge -q blue")
	u.run("worktree", "clean", "--dry-run").wants(0, "blue: would be removed")
	u.run("worktree", "clean").wants(0, "blue: removed")
	if got := sh(u.dir, "git branch; ls .."); strings.Contains(got, "blue") || strings.Contains(got, "calc-") {
		t.Errorf("left over: %s", got)
	}
	u.run("worktree", "remove", "red").wants(2, "there is no work tree red")
	u.run("-p", u.script("-- 1 --\ntext: yes\n"), "--worktree", "../out", "go").wants(2, "is no name of a work tree")
	u.run("--demo", "-p", "--worktree", "x").wants(2)
}

// What a kill leaves while a work tree is made is cleaned away.
func TestAKillWhileAWorkTreeIsMade(t *testing.T) {
	u := newUser(t)
	sh := calcRepository(u)
	model := u.script("-- 1 --\ntext: yes\n")
	for _, after := range []time.Duration{5, 20, 40, 80, 160} {
		cmd := u.command("-p", model, "--worktree", "it", "go")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(after*time.Millisecond, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // it was killed, or was done
		kill.Stop()
		u.run("worktree", "clean").wants(0)
		if got := sh(u.dir, "git branch; git worktree list; ls .."); strings.Contains(got, "it\n") || strings.Contains(got, "calc-") {
			t.Fatalf("after %d ms left over: %s", after, got)
		}
	}
	u.run("-p", model, "--worktree", "it", "go").wants(0, "yes")
}

// What was allowed in the main checkout counts in a work tree of it as long as it is the same to
// the byte.
func TestConsentInAWorkTree(t *testing.T) {
	u := newUser(t)
	sh := calcRepository(u)
	const hook = `{"hooks": {"session_start": [{"command": "sh ./hook.sh"}]}}`
	u.file(".adze/hooks.json", hook)
	u.file("hook.sh", "echo ran >> \"$HOME/ran\"\n")
	sh(u.dir, "git add -f . && git commit -qm hook")
	runs := func(name string) string {
		u.run("-p", u.script("-- 1 --\ntext: yes\n"), "--worktree", name, "go").wants(0)
		return sh(u.dir, `cat "$HOME/ran" 2>/dev/null || true; rm -f "$HOME/ran"`)
	}
	if got := runs("before"); got != "" {
		t.Errorf("ran without consent: %s", got)
	}
	items := u.run("trust", "list").wants(0)
	id := "hook:"
	for word := range strings.FieldsSeq(items.out) {
		if strings.HasPrefix(word, "hook:") {
			id = word
		}
	}
	u.run("trust", "allow", id).wants(0)
	if got := runs("after"); got != "ran" {
		t.Errorf("what was allowed in the main checkout came to %q", got)
	}
	sh(u.dir, "cd ../calc-after && echo 'echo more' >> hook.sh")
	if got := runs("after"); got != "" {
		t.Errorf("a changed script ran: %s", got)
	}
	sh(u.dir, "cd .. && cp -r calc-before stranger") // a folder that only looks like a work tree
	u.dir = filepath.Join(filepath.Dir(u.dir), "stranger")
	u.run("-p", u.script("-- 1 --\ntext: yes\n"), "go").wants(0)
	if got := sh(u.dir, `cat "$HOME/ran" 2>/dev/null || true`); got != "" {
		t.Errorf("a copy elsewhere ran: %s", got)
	}
}
