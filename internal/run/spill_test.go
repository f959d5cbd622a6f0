package run_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The whole of a long output is in a file of the session, for nobody else to read; the model gets
// its start and its end, and reads the rest without a question.
func TestTheWholeOfALongOutputIsKept(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	u := newUser(t)
	r := u.run("-p", "--output-format", "stream-json", "--permission-mode", "yolo",
		u.script("-- 1 --\ncall bash: {\"command\":\"seq 1 100000\"}\n-- 2 --\nexpect bash completed: 100000\ntext: long\n"), "count").wants(0)
	path, session := "", fmt.Sprint(r.result()["session"])
	for _, l := range r.lines() {
		if l["type"] == "tool_end" {
			path = fmt.Sprint(l["output_file"])
		}
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(kept), "\n"); lines != 100000 || !strings.HasSuffix(string(kept), "\n100000\n") {
		t.Errorf("%d lines are kept", lines)
	}
	for of, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(of); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", of, info.Mode(), err)
		}
	}
	steps := fmt.Sprintf("-- 1 --\ncall read: {\"path\":%q,\"offset\":5000,\"limit\":1}\n-- 2 --\ntext: read\n", path)
	r = u.run("-p", "--resume", session, "--output-format", "stream-json", u.script(steps), "and the middle?").wants(0)
	if got := strings.Join(r.ends(), " "); got != "read completed" {
		t.Errorf("reading it: %s", got)
	}
}
