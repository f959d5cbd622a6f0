package proc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/sandbox/proc"
)

// wordsTo makes this binary, which stands in for a shell, print its arguments as JSON.
const wordsTo = "PROC_TEST_WORDS"

// TestMain makes this binary a stand-in for adze when a test wants one to kill.
func TestMain(m *testing.M) {
	if script := os.Getenv("PROC_TEST_OWNER"); script != "" {
		os.Exit(owner(script))
	}
	if log := os.Getenv(detachTo); log != "" {
		os.Exit(detach(log))
	}
	if os.Getenv(wordsTo) != "" {
		raw, _ := json.Marshal(os.Args[1:]) // they are texts
		fmt.Println(string(raw))
		os.Exit(9)
	}
	os.Exit(m.Run())
}

// owner runs one command as adze would: SIGTERM is an abort.
func owner(script string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s := proc.Supervisor{}
	if dir := os.Getenv("PROC_TEST_LEDGER"); dir != "" {
		s.Ledger = proc.NewLedger(dir)
	}
	c := shell(script)
	c.Tag, c.Linger = os.Getenv("PROC_TEST_TAG"), true
	if _, err := s.Run(ctx, c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// shell is a command line under sh with a plain environment.
func shell(script string) proc.Command {
	return proc.Command{Argv: []string{"sh", "-c", script}, Dir: "/", Env: []string{"PATH=" + os.Getenv("PATH")}}
}

// run runs c to its end and fails the test when it cannot be started.
func run(t *testing.T, c proc.Command) proc.Result {
	t.Helper()
	r, err := proc.Supervisor{}.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// newTag is a number of seconds to sleep that no other process sleeps.
func newTag() string { return "86400." + strconv.FormatUint(rand.Uint64()|1<<63, 10) }

// tagged lists the live processes, shims included, with tag in their arguments.
func tagged(t *testing.T, tag string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Skip("needs /proc to count processes")
	}
	var found []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		args, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err == nil && bytes.Contains(args, []byte(tag)) && !strings.Contains(string(args), "PROC_TEST") {
			found = append(found, pid)
		}
	}
	return found
}

// patience ends a wait for what will never be. It decides no test that passes, however busy the
// machine is; the times that the package promises are TestEndsInTime's.
const patience = 2 * time.Minute

// await looks until ok.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for start := time.Now(); !ok(); <-look.C {
		if time.Since(start) > patience {
			t.Fatalf("still not: %s", what)
		}
	}
}

// awaitNone is the promise of this package: after the end nothing is left.
func awaitNone(t *testing.T, tag string) {
	t.Helper()
	await(t, "no process left", func() bool { return len(tagged(t, tag)) == 0 })
}

func awaitSome(t *testing.T, tag string, n int) {
	t.Helper()
	await(t, fmt.Sprintf("%d processes running", n), func() bool { return len(tagged(t, tag)) >= n })
}
