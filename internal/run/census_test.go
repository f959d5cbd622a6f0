package run_test

import (
	"io"
	"os"
	"path/filepath"
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

// patience ends a wait for what will never be. It decides no test that passes, however busy the
// machine is.
const patience = 2 * time.Minute

// waitFor looks until a condition holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	if !eventually(holds) {
		t.Fatalf("waited in vain for %s", what)
	}
}

// eventually looks until a condition holds, and leaves the processor to what it waits for.
func eventually(holds func() bool) bool {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for start := time.Now(); !holds(); <-look.C {
		if time.Since(start) > patience {
			return false
		}
	}
	return true
}

func (u *user) startWith(stdin io.Reader, args ...string) *started {
	u.t.Helper()
	s := &started{u: u, cmd: u.command(args...)}
	s.cmd.Stdin = stdin
	return s.begin()
}
