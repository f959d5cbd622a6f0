package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestWhatTheUserSavesWhileACommandRunsIsTheirs has the user save files while a command of the
// sandbox runs, and undoes the command: only what it did goes back.
func TestWhatTheUserSavesWhileACommandRunsIsTheirs(t *testing.T) {
	u := repository(t)
	sandboxed(t, u)
	u.sh("mkdir beside; echo before > beside/a; echo before > both")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 1000 {
			if running("sleep 15.4321") {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		for _, name := range []string{"theirs", "both", "beside/a"} { // the command waits for the last one
			_ = os.WriteFile(filepath.Join(u.dir, name), []byte("user"), 0o644)
		}
	}()
	steps := "-- 1 --\n" + bash("echo ours > both; echo ours > beside/b; rm run.sh; sleep 15.4321 & until grep -q user beside/a; do sleep 0.05; done; kill %1") + "-- 2 --\nexpect bash completed: somebody else changed it while the command ran\ntext: done\n"
	r := u.run("-p", "--sandbox=required", "--permission-mode=yolo", "--output-format=stream-json", u.script(steps), "work").wants(0)
	<-done
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(u.dir, name))
		if err != nil {
			return "none"
		}
		return strings.TrimSpace(string(data))
	}
	check := func(when string, want map[string]string) {
		for name, text := range want {
			if got := read(name); got != text {
				t.Errorf("%s: %s is %q, want %q", when, name, got, text)
			}
		}
	}
	check("after the command", map[string]string{"theirs": "user", "beside/a": "user", "beside/b": "ours", "both": "user", "run.sh": "none"})
	if !strings.Contains(r.out, `"files_changed":["beside/b","run.sh"]`) {
		t.Errorf("the changes of the command: %s", r.out)
	}
	u.run("undo").wants(0)
	check("after the undo", map[string]string{"theirs": "user", "beside/a": "user", "beside/b": "none", "both": "user", "run.sh": "#!/bin/sh"})
}

// running reports a process with these arguments.
func running(args string) bool {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil && strings.TrimSpace(strings.ReplaceAll(string(data), "\x00", " ")) == args {
			return true
		}
	}
	return false
}
