package run_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestALoopHasItsExitCode(t *testing.T) {
	var steps strings.Builder
	for i := range 20 {
		fmt.Fprintf(&steps, "-- %d --\ncall %s: {}\n", i+1, []string{"list", "todoread"}[i%2])
	}
	u := newUser(t)
	u.run("-p", u.script(steps.String()), "hi").wants(13, "told the model: You have made the same calls", "the model repeats itself")
	r := u.run("-p", "--output-format", "json", u.script(steps.String()), "hi").wants(13).result()
	if r["cause"] != "loop" || r["turns"] != 9.0 {
		t.Errorf("cause %v after %v requests, want loop after 9", r["cause"], r["turns"])
	}
}

func TestATruncatedAnswerHasItsExitCode(t *testing.T) {
	u := newUser(t)
	r := u.run("-p", u.script("-- 1 --\ntext: half of it\nstop: length\n"), "hi").wants(12, "cut at the model's output limit", "go on")
	if !strings.HasPrefix(r.out, "half of it\n") {
		t.Errorf("stdout %q", r.out)
	}
	r = u.run("-p", "--output-format", "json", u.script("-- 1 --\ntext: half of it\nstop: length\n"), "hi").wants(12)
	if l := r.result(); l["cause"] != "truncated" || l["text"] != "half of it" {
		t.Errorf("result %v", l)
	}
}

// Without a word about it a prompt takes 500 requests; a flag or the file says otherwise, 0 that
// there is no bound.
func TestTheUsualNumberOfRequests(t *testing.T) {
	var steps strings.Builder
	for i := range 502 {
		fmt.Fprintf(&steps, "-- %d --\ncall write: {\"path\":\"a\",\"content\":\"%d\"}\n", i+1, i)
	}
	steps.WriteString("-- 503 --\ntext: end\n")
	u := newUser(t)
	script := u.script(steps.String())
	u.run("-p", "--no-session", "--permission-mode", "edits", script, "hi").wants(6, "the usual 500 model requests", "--continue")
	if err := os.Remove(filepath.Join(u.dir, "a")); err != nil { // an existing file has to be read first
		t.Fatal(err)
	}
	u.run("-p", "--no-session", "--permission-mode", "edits", "--max-turns", "0", script, "hi").wants(0, "end")
	u.run("--help").wants(0, "(default 500)", "12", "13")
}

// Whose answer nobody can get is not run, and fails: the runtime would send it to /dev/null in
// silence.
func TestStdoutThatWasClosedAtTheStart(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	u := newUser(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := func(redirect string) (string, int) {
		cmd := exec.Command("sh", "-c", `"$0" -p "$1" hi `+redirect+`; exit $?`, self, u.script("-- 1 --\ntext: lost\n"))
		cmd.Dir, cmd.Env = u.dir, u.env
		said, _ := cmd.CombinedOutput() // the code is what counts
		return string(said), cmd.ProcessState.ExitCode()
	}
	if said, code := run(">&-"); code != 11 || !strings.Contains(said, "stdout is closed") {
		t.Errorf("exit code %d: %s", code, said)
	}
	for _, fine := range []string{"", ">/dev/null", "2>&-", "<&-"} {
		if said, code := run(fine); code != 0 {
			t.Errorf("%q: exit code %d: %s", fine, code, said)
		}
	}
	if heads := u.run("session", "list"); strings.Count(heads.out, "\n") != 4 {
		t.Errorf("sessions of runs that were refused: %s", heads.out)
	}
}
