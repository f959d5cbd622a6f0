package run_test

import (
	"os"
	"path/filepath"
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
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if got, _ := os.ReadFile(marker); strings.Contains(string(got), "ran") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the command was not started")
		}
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	if list, err := proc.Processes(); err == nil {
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			left := 0
			for _, p := range list {
				if strings.HasSuffix(strings.ToLower(p.Command), "ping.exe") {
					left++
				}
			}
			if left == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the command is still there")
			}
			list, _ = proc.Processes()
		}
	}
	r := u.run("-p", "-c", "--permission-mode", "yolo", "--output-format", "stream-json", u.script("-- 1 --\ntext: Went on.\n"), "go on").wants(0, "")
	if !strings.Contains(r.out, "Went on.") {
		t.Errorf("%s%s", r.out, r.err)
	}
	if got, _ := os.ReadFile(marker); strings.Count(string(got), "ran") != 1 {
		t.Errorf("the command ran again: %q", got)
	}
}
