package run_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/sandbox/proc"
)

// cmdShell has a user's commands run by cmd, which every Windows has.
func (u *user) cmdShell() *user {
	u.env = append(u.env, "ADZE_SHELL="+filepath.Join(os.Getenv("SYSTEMROOT"), "system32", "cmd.exe"))
	return u
}

func TestAPromptOnWindows(t *testing.T) {
	u := newUser(t).cmdShell()
	u.file("crlf.txt", "one\r\ntwo\r\nthree\r\n")
	r := u.run("-p", "--permission-mode", "yolo", "--output-format", "stream-json", u.script(`-- 1 --
call read: {"path":"crlf.txt"}
-- 2 --
call edit: {"path":".\\CRLF.TXT","old_string":"two\n","new_string":"TWO\nmore\n"}
-- 3 --
call bash: {"command":"echo from cmd& exit 4"}
-- 4 --
call write: {"path":"sub\\new.txt","content":"x\n"}
-- 5 --
call read: {"path":"NUL"}
-- 6 --
call read: {"path":"crlf.txt:stream"}
-- 7 --
text: Done.
`), "do it").wants(0, "")
	if got, err := os.ReadFile(filepath.Join(u.dir, "crlf.txt")); err != nil || string(got) != "one\r\nTWO\r\nmore\r\nthree\r\n" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := os.ReadFile(filepath.Join(u.dir, "sub", "new.txt")); err != nil || strings.TrimRight(string(got), "\r\n") != "x" {
		t.Errorf("%q, %v", got, err)
	}
	for _, want := range []string{"from cmd", `"exit":4`, "is a device on Windows", "names a stream", `"path":"sub/new.txt"`, "Done."} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the stream has no %s:\n%s", want, r.out)
		}
	}
}

// TestACommandIsAskedOnWindows: a line that only looks in bash is asked for in cmd.
func TestACommandIsAskedOnWindows(t *testing.T) {
	u := newUser(t).cmdShell()
	script := u.script("-- 1 --\ncall bash: {\"command\":\"echo x\"}\n-- 2 --\ntext: Done.\n")
	r := u.run("-p", "--permission-mode", "edits", "--output-format", "stream-json", script, "do it")
	if !strings.Contains(r.out, "line of cmd") || strings.Contains(r.out, `"exit":0`) {
		t.Errorf("it ran unasked:\n%s%s", r.out, r.err)
	}
	r = u.run("-p", "--allow", "execute(echo x)", "--output-format", "stream-json", script, "do it")
	if !strings.Contains(r.out, `"exit":0`) {
		t.Errorf("a rule that spells it does not allow it:\n%s%s", r.out, r.err)
	}
}

// TestAKilledRunGoesOnOnWindows kills an adze while its command runs: the command ends with it, and
// the session goes on without running it again.
func TestAKilledRunGoesOnOnWindows(t *testing.T) {
	u := newUser(t).cmdShell()
	marker := filepath.Join(u.dir, "ran.txt")
	script := u.script("-- 1 --\ncall bash: {\"command\":\"echo ran>>ran.txt& ping -n 600 127.0.0.1\"}\n-- 2 --\ntext: Went on.\n")
	c := u.command("-p", "--permission-mode", "yolo", script, "sleep")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	u.untilFile("ran.txt", "ran")
	_ = c.Process.Kill()
	_ = c.Wait()
	u.nothingRuns("ping.exe")
	r := u.run("-p", "-c", "--permission-mode", "yolo", "--output-format", "stream-json", u.script("-- 1 --\ntext: Went on.\n"), "go on").wants(0, "")
	if !strings.Contains(r.out, "Went on.") {
		t.Errorf("%s%s", r.out, r.err)
	}
	if got, _ := os.ReadFile(marker); strings.Count(string(got), "ran") != 1 {
		t.Errorf("the command ran again: %q", got)
	}
}

// TestACallReachesNoSessionOnWindows, also where its environment hides that it is one.
func TestACallReachesNoSessionOnWindows(t *testing.T) {
	u := newUser(t).cmdShell()
	id, w := u.inBackground("--permission-mode=ask", u.script("-- 1 --\ncall write: {\"path\":\"made.txt\",\"content\":\"x\"}\n"), "make it")
	w.until(`{"type":"question"`)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	u.file("reach.cmd", "set ADZE_HOME="+u.home+"\r\nset "+proc.Mark+"=\r\nset "+asMain+"=1\r\n\""+self+"\" stop "+id+"\r\n")
	r := u.run("-p", "--permission-mode=yolo", "--output-format", "stream-json", u.script("-- 1 --\ncall bash: {\"command\":\"reach.cmd\"}\n-- 2 --\ntext: Done.\n"), "go")
	if !strings.Contains(r.out, "started by a call of adze: it is in the job") {
		t.Errorf("%s%s", r.out, r.err)
	}
	u.attach(id) // and the user reaches it
}

// untilFile waits until a file holds a text.
func (u *user) untilFile(name, text string) {
	u.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if got, _ := os.ReadFile(filepath.Join(u.dir, name)); strings.Contains(string(got), text) {
			return
		}
		if time.Now().After(deadline) {
			u.t.Fatalf("%s does not come to hold %q", name, text)
		}
	}
}

// nothingRuns waits until no process of a program is left.
func (u *user) nothingRuns(program string) {
	u.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		list, err := proc.Processes()
		if err != nil || !slices.ContainsFunc(list, func(p proc.Info) bool { return strings.HasSuffix(strings.ToLower(p.Command), program) }) {
			return
		}
		if time.Now().After(deadline) {
			u.t.Fatalf("%s is still there", program)
		}
	}
}

// TestUndoOnWindows undoes what an edit and a command did, and undoes the undo.
func TestUndoOnWindows(t *testing.T) {
	u := newUser(t).cmdShell()
	u.file("crlf.txt", "one\r\ntwo\r\n")
	u.file("gone.txt", "here\r\n")
	u.run("-p", "--permission-mode", "yolo", u.script(`-- 1 --
call read: {"path":"crlf.txt"}
-- 2 --
call edit: {"path":"CRLF.TXT","old_string":"two","new_string":"TWO"}
-- 3 --
call bash: {"command":"del gone.txt& mkdir sub& echo new>sub\\new.txt"}
-- 4 --
text: Done.
`), "do it").wants(0, "Done.")
	holds := func(when string, want map[string]string) {
		for name, text := range want {
			got, err := os.ReadFile(filepath.Join(u.dir, name))
			if text == "" && err == nil || text != "" && string(got) != text {
				t.Errorf("%s: %s holds %q, want %q", when, name, got, text)
			}
		}
	}
	done := map[string]string{"crlf.txt": "one\r\nTWO\r\n", "gone.txt": "", `sub\new.txt`: "new\r\n"}
	holds("done", done)
	u.run("undo", "--list").wants(0)
	u.run("undo").wants(7, "crlf.txt", "gone.txt: it changed while a command ran") // a command works on the folder itself here
	holds("undone in part", map[string]string{"crlf.txt": "one\r\ntwo\r\n", "gone.txt": ""})
	u.run("redo").wants(0)
	u.run("undo", "--unknown").wants(0)
	holds("undone", map[string]string{"crlf.txt": "one\r\ntwo\r\n", "gone.txt": "here\r\n", `sub\new.txt`: ""})
	u.run("redo").wants(0)
	holds("redone", done)
}

// TestTheFirstStartOnWindows is what somebody tries who has no model yet.
func TestTheFirstStartOnWindows(t *testing.T) {
	u := newUser(t)
	u.run("--version").wants(0, "adze")
	u.run("-p", "hello").wants(3, "no model is configured", "adze --demo")
	u.run("help", "windows").wants(0, "Windows Terminal")
	r := u.run("doctor")
	for _, want := range []string{"covers this folder from the first call on", "ok    shell", "sandbox"} {
		if !strings.Contains(r.out+r.err, want) {
			t.Errorf("doctor does not tell of %s:\n%s%s", want, r.out, r.err)
		}
	}
	if r := u.run("--demo", "--print"); r.code != 0 && !strings.Contains(r.err, "go") {
		t.Errorf("the demo: %d\n%s%s", r.code, r.out, r.err)
	}
}
