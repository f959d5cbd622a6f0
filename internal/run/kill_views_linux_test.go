package run_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
)

// TestKilledWhileChangesAreApplied kills runs in the moment when what a command changed in its view
// is being applied, and goes on at once: all files are of one command, none is done twice, what the
// log says was done is there, and undo brings all back. ADZE_TESTS=long makes it long.
func TestKilledWhileChangesAreApplied(t *testing.T) {
	effort.Needs(t, effort.Short, "it kills whole programs")
	needs(t, "bash")
	const steps, files = 3, 200
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	var script strings.Builder
	for i := range steps {
		fmt.Fprintf(&script, "-- %d --\ncall bash: {\"command\":\"eval 'for i in $(seq %d); do echo %d >f$i; done; echo %[3]d >>done'\"}\n", i+1, files, i)
	}
	fmt.Fprintf(&script, "-- %d --\ntext: end\n", steps+1)
	caught, kept := 0, 0
	for round := range effort.Rounds(3, 15, 1000) {
		u := newUser(t)
		if round == 0 {
			sandboxed(t, u)
		}
		for i := range files {
			u.file(fmt.Sprint("f", i+1), "before\n")
		}
		before := u.shape()
		journal := u.killApplying(u.script(script.String()), random.IntN(2), random.IntN(2000))
		more := u.run("-p", "--continue", "--permission-mode", "auto", u.script("-- 1 --\ntext: on\n"), "go on")
		if more.code == 2 && !journal {
			continue // it was killed before its first commit: there is no session
		}
		more.wants(0)
		if journal {
			caught++
		}
		u.audited(nil)
		u.wantOnce("done")
		first, err := os.ReadFile(filepath.Join(u.dir, "f1"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range files {
			if got, _ := os.ReadFile(filepath.Join(u.dir, fmt.Sprint("f", i+1))); string(got) != string(first) {
				t.Errorf("f%d is %q, f1 is %q", i+1, got, first)
			}
		}
		done, _ := os.ReadFile(filepath.Join(u.dir, "done")) // none: nothing was done
		if n := strings.Count(string(done), "\n"); string(first) != "before\n" && string(first) != fmt.Sprintf("%d\n", n-1) {
			t.Errorf("done says %q, f1 is %q", done, first)
		}
		if r := u.run("undo", "--unknown", "--to", "0"); r.code == 0 {
			u.wantTree("undone", before)
		} else if len(done) > 0 {
			t.Errorf("undo: exit code %d\n%s%s", r.code, r.out, r.err)
		}
		if left, _ := filepath.Glob(filepath.Join(u.home, "state", "sandbox", "views", "*", "kept", "*")); len(left) > 0 {
			kept++
		}
		if t.Failed() {
			t.Fatalf("seed %d, round %d", seed, round)
		}
	}
	t.Logf("seed %d: %d runs were killed while changes were applied; %d had changed something that was kept aside", seed, caught, kept)
}

// killApplying kills a run that has begun to apply the changes of so many commands and one more,
// some turns of a loop later. It reports whether that was begun.
func (u *user) killApplying(script string, commands, turns int) bool {
	u.t.Helper()
	s := u.start("-p", "--permission-mode", "auto", script, "work")
	over := make(chan struct{})
	go func() { _ = s.cmd.Wait(); close(over) }()
	seen := map[string]bool{}
	for {
		select {
		case <-over:
			return false
		default:
		}
		found, _ := filepath.Glob(filepath.Join(u.home, "state", "sandbox", "views", "*", "view-*", "journal"))
		for _, path := range found {
			seen[path] = true
		}
		if len(seen) > commands {
			for range turns {
				runtime.Gosched()
			}
			_ = s.cmd.Process.Kill()
			<-over
			return true
		}
	}
}
