package app_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// carrying lists the processes whose arguments hold the tag. Zombies have no arguments.
func carrying(tag string) (pids []int) {
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, f := range folders {
		args, err := os.ReadFile(filepath.Join(f, "cmdline"))
		if err == nil && strings.Contains(string(args), tag) {
			pid, _ := strconv.Atoi(filepath.Base(f))
			pids = append(pids, pid)
		}
	}
	return pids
}

// waitFor yields until a condition holds; the bound only ends a test that would hang.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		runtime.Gosched()
	}
}

func (u *user) startWith(stdin io.Reader, args ...string) *started {
	u.t.Helper()
	s := &started{u: u, cmd: u.command(args...)}
	s.cmd.Stdin = stdin
	return s.begin()
}
