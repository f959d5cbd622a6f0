package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/testkit/lsptest"
	"adze/internal/testkit/posix"
)

// withServer configures a language server for .x files, and allows it. The tests' own program lies
// in /tmp, which the sandbox does not show.
func (u *user) withServer(how string) {
	u.t.Helper()
	self, err := os.Executable()
	if err != nil {
		u.t.Fatal(err)
	}
	u.configure(fmt.Sprintf(`{"sandbox": "off", "language_servers": {"use": "on", "servers": {"fake": {"command": [%q, %q, %q], "files": {".x": "x"}}}}}`, self, lsptest.Word, how))
	u.file("main.x", "fine\nold one\n")
	u.file("more.x", "old two\n")
	u.run("trust", "allow", "sdk:fake").wants(0)
}

// TestToolsOfLanguageServersAreListed: adze tools knows them, as a run does.
func TestToolsOfLanguageServersAreListed(t *testing.T) {
	u := newUser(t)
	u.withServer("push")
	u.run("tools", "list").wants(0, "diagnostics", "definition", "rename")
	u.run("tools", "show", "rename").wants(0, "new_name")
	u.run("tools", "schema", "rename").wants(0, "new_name")
}

// TestAnEditTellsWhatItBroke: in the very call, as a server says it; a rename goes through the gate
// file by file.
func TestAnEditTellsWhatItBroke(t *testing.T) {
	u := newUser(t)
	u.withServer("push")
	steps := "-- 1 --\ncall read: {\"path\":\"main.x\"}\ncall read: {\"path\":\"more.x\"}\n" +
		"-- 2 --\ncall diagnostics: {\"path\":\"main.x\"}\n" +
		"-- 3 --\nexpect diagnostics completed: no problems\ncall edit: {\"path\":\"main.x\",\"old_string\":\"fine\",\"new_string\":\"BAD thing\"}\n" +
		"-- 4 --\nexpect edit completed: (?s)edited main.x.*fake: new with this edit\\n  main.x:1:1: error: BAD is here \\[C1\\]\ncall edit: {\"path\":\"main.x\",\"old_string\":\"BAD thing\",\"new_string\":\"good\"}\n" +
		"-- 5 --\nexpect edit completed: nothing new is wrong\ncall write: {\"path\":\"new.x\",\"content\":\"ODD\\n\"}\n" +
		"-- 6 --\nexpect write completed: new.x:1:1: warning: ODD is here\ncall diagnostics: {\"path\":\"more.x\"}\n" +
		"-- 7 --\ncall rename: {\"path\":\"main.x\",\"line\":2,\"symbol\":\"old\",\"new_name\":\"young\"}\n" +
		"-- 8 --\nexpect rename completed: (?s)2 places in 2 files\ntext: done\n"
	u.run("-p", "--permission-mode=edits", u.script(steps), "go").wants(0, "done")
	for name, want := range map[string]string{"main.x": "good\nyoung one\n", "more.x": "young two\n"} {
		if raw, err := os.ReadFile(filepath.Join(u.dir, name)); err != nil || string(raw) != want {
			t.Errorf("%s: %q %v", name, raw, err)
		}
	}
}

// TestARenameIsAllOrNone: a file that may not be written ends it before any is.
func TestARenameIsAllOrNone(t *testing.T) {
	u := newUser(t)
	u.withServer("push")
	steps := "-- 1 --\ncall diagnostics: {\"path\":\"main.x\"}\ncall diagnostics: {\"path\":\"more.x\"}\n" +
		"-- 2 --\ncall rename: {\"path\":\"main.x\",\"line\":2,\"symbol\":\"old\",\"new_name\":\"young\"}\n" +
		"-- 3 --\nexpect rename denied: .\ncall rename: {\"path\":\"main.x\",\"line\":2,\"symbol\":\"old\",\"new_name\":\"a b\"}\n" +
		"-- 4 --\nexpect rename failed: is no name\ncall rename: {\"path\":\"main.x\",\"line\":1,\"symbol\":\"old\",\"new_name\":\"x\"}\n" +
		"-- 5 --\nexpect rename failed: line 1 of main.x has no name\ntext: done\n"
	u.run("-p", "--permission-mode=edits", "--deny", "write(work:more.x)", u.script(steps), "go").wants(0, "done")
	for name, want := range map[string]string{"main.x": "fine\nold one\n", "more.x": "old two\n"} {
		if raw, err := os.ReadFile(filepath.Join(u.dir, name)); err != nil || string(raw) != want {
			t.Errorf("%s: %q %v", name, raw, err)
		}
	}
}

// TestAServerThatFailsBlocksNoEdit: it is told once what is not known, and the edit is made.
func TestAServerThatFailsBlocksNoEdit(t *testing.T) {
	for _, how := range []string{"exit at initialize", "rubbish at initialized", "exit at textDocument/didOpen"} {
		u := newUser(t)
		u.withServer(how)
		steps := "-- 1 --\ncall edit: {\"path\":\"main.x\",\"old_string\":\"fine\",\"new_string\":\"BAD\"}\n-- 2 --\nexpect edit completed: not known yet\ntext: done\n"
		u.run("-p", "--permission-mode=edits", u.script(steps), "go").wants(0, "done")
		if raw, _ := os.ReadFile(filepath.Join(u.dir, "main.x")); !strings.HasPrefix(string(raw), "BAD") {
			t.Errorf("%s: %q", how, raw)
		}
	}
}

// TestNoServerRunsUnasked: without a word of the user's none checks a run without a terminal, and
// none of a project's choosing ever does. One that adze does not know is asked about in each
// project.
func TestNoServerRunsUnasked(t *testing.T) {
	u := newUser(t)
	u.withServer("push")
	edits := func(says string) string {
		return "-- 1 --\ncall edit: {\"path\":\"main.x\",\"old_string\":\"fine\",\"new_string\":\"BAD\"}\n-- 2 --\nexpect edit completed: " + says + "\ntext: done\n"
	}
	u.run("trust", "revoke", "sdk:fake").wants(0)
	r := u.run("-p", "--permission-mode=edits", "--output-format=stream-json", u.script(edits("(?s)fake: .* it is not started: it may run code of this project, and the user has not allowed that here")), "go").wants(0)
	if !strings.Contains(r.out+r.err, "ignored until you allow it: sdk:fake") {
		t.Errorf("it is not listed: %s%s", r.out, r.err)
	}
	u.configure(`{}`)
	u.file("main.x", "fine\nold one\n")
	self, _ := os.Executable()
	u.file(".adze/config.json", fmt.Sprintf(`{"language_servers": {"use": "on", "servers": {"fake": {"command": [%q, %q, "push"], "files": {".x": "x"}}}}}`, self, lsptest.Word))
	u.run("-p", "--permission-mode=edits", u.script(edits("lines\\n?$")), "go").wants(0, "done")
}

// TestAnAnswerDoesNotEndBeforeTheServer: what an edit broke, which its result did not know yet, is
// told before the answer ends; the server waits until the edit was answered.
func TestAnAnswerDoesNotEndBeforeTheServer(t *testing.T) {
	u := newUser(t)
	u.withServer("push gate at initialize")
	if err := posix.Fifo(t, filepath.Join(u.dir, "gate.fifo")); err != nil {
		t.Skip("no FIFO can be made here:", err)
	}
	steps := "-- 1 --\ncall edit: {\"path\":\"main.x\",\"old_string\":\"fine\",\"new_string\":\"BAD\"}\n" +
		"-- 2 --\nexpect edit completed: not known yet: it is still starting\ncall bash: {\"command\":\"echo x > gate.fifo\"}\n" +
		"-- 3 --\nexpect bash completed: .\ntext: done too early\n" +
		"-- 4 --\nsave found: (main.x:1:1: error: BAD is here)\ntext: told ${found}\n"
	r := u.run("-p", "--permission-mode=edits", "--allow=execute(**)", u.script(steps), "go")
	// What the server said before the third request is told there.
	if r.code != 0 || !strings.Contains(r.out, "told main.x:1:1: error: BAD is here") {
		t.Errorf("%d %s %s", r.code, r.out, r.err)
	}
}

// TestAnEditIsReformatted: as the user's configuration says; the result shows it, the next edit
// finds what stands there, and a formatter that fails changes nothing.
func TestAnEditIsReformatted(t *testing.T) {
	u := newUser(t)
	u.configure(`{"formatters": {"gofmt": {"command": ["gofmt"], "files": [".go"]}, "rm": {"command": ["sh", "-c", "echo no >&2; exit 1"], "files": [".txt"]}}}`)
	u.file("a.go", "package a\r\n\r\nvar x = 1\r\n")
	u.file("b.txt", "one\n")
	steps := "-- 1 --\ncall read: {\"path\":\"a.go\"}\ncall read: {\"path\":\"b.txt\"}\n" +
		"-- 2 --\ncall edit: {\"path\":\"a.go\",\"old_string\":\"var x = 1\",\"new_string\":\"var   x=1\\nfunc f( ) { }\"}\n" +
		"-- 3 --\nexpect edit completed: (?s)then gofmt reformatted it:.*\\+func f\\(\\) {}\ncall edit: {\"path\":\"a.go\",\"old_string\":\"func f() {}\",\"new_string\":\"func g() {}\"}\n" +
		"-- 4 --\nexpect edit completed: \\+1 -1 lines$\ncall edit: {\"path\":\"a.go\",\"old_string\":\"func g() {}\",\"new_string\":\"func g( {}\"}\n" +
		"-- 5 --\nexpect edit completed: gofmt left it as it is: exit code 2\ncall edit: {\"path\":\"b.txt\",\"old_string\":\"one\",\"new_string\":\"two\"}\n" +
		"-- 6 --\nexpect edit completed: rm left it as it is: exit code 1: no\ncall write: {\"path\":\"c.go\",\"content\":\"package   c\\n\"}\n" +
		"-- 7 --\nexpect write completed: then gofmt reformatted it\ntext: done\n"
	u.run("-p", "--permission-mode=edits", u.script(steps), "go").wants(0, "done")
	for name, want := range map[string]string{"b.txt": "two\n", "c.go": "package c\n"} {
		if raw, err := os.ReadFile(filepath.Join(u.dir, name)); err != nil || string(raw) != want {
			t.Errorf("%s: %q %v", name, raw, err)
		}
	}
	raw, err := os.ReadFile(filepath.Join(u.dir, "a.go"))
	if err != nil || !strings.Contains(string(raw), "var x = 1") || !strings.Contains(string(raw), "func g( {}") {
		t.Errorf("a.go: %q %v", raw, err)
	}
}
