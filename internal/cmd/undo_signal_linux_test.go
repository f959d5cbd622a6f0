package cmd_test

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/testkit/effort"
)

// repoShape is the folder with what git says of refs, HEAD and index.
func (u *user) repoShape() string {
	u.t.Helper()
	cmd := exec.Command("bash", "-ec", "git for-each-ref; git symbolic-ref HEAD; git ls-files -s; git stash list; git fsck --no-dangling 2>&1")
	cmd.Dir = u.dir
	cmd.Env = append(u.env, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		u.t.Fatalf("%v\n%s", err, out)
	}
	return u.shape() + string(out)
}

// TestATurnCanBeUndoneAfterASignal sends signals to undo and redo at random moments: after each,
// the next adze tells what stands in the folder, in git's refs and in the index, and can go on from
// it. ADZE_TESTS=long makes it long.
func TestATurnCanBeUndoneAfterASignal(t *testing.T) {
	u := repository(t)
	u.sh("mkdir many; for i in $(seq 40); do echo $i > many/$i; done; git add .; git commit -qm many; git branch side")
	before := u.repoShape()
	u.work("-- 1 --\n" + bash("for i in many/1*; do echo x > $i; done; rm many/2*; git -c user.name=a -c user.email=a@b commit -qam wrecked; git checkout -qb away; git branch -qD side; rm -r src") + "-- 2 --\ntext: done\n")
	is := map[bool]string{true: before, false: u.repoShape()}
	if is[true] == is[false] {
		t.Fatal("the turn has changed nothing")
	}
	undone := func() bool { return strings.Contains(u.undo("--list").wants(0).out, "undone") }
	do := func(to bool) []string {
		if to {
			return undoing("--git")
		}
		return []string{"redo"}
	}
	whole := time.Hour
	for i := range 4 { // the first ones have more to do
		began := time.Now()
		u.run(do(i%2 == 0)...).wants(0)
		whole = min(whole, time.Since(began))
	}
	seed := rand.Uint64()
	t.Logf("seed %d; an undo takes %v", seed, whole)
	random := rand.New(rand.NewPCG(seed, 1))
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL}
	now, came, turned := undone(), map[syscall.Signal]int{}, 0
	for range effort.Rounds(6, 20, 1000) {
		want, sig := !now, signals[random.IntN(len(signals))]
		cmd := u.command(do(want)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.Int64N(int64(3 * whole / 2)))) // any moment will do
		_ = cmd.Process.Signal(sig)                                    // it may have ended
		if cmd.Wait() != nil {
			came[sig]++
		}
		now = undone()
		if got := u.repoShape(); got != is[now] {
			t.Fatalf("after %v to %v, undone is said to be %v, and the folder is\n%s\nwant\n%s", sig, do(want), now, got, is[now])
		}
		if now == want {
			turned++
			continue
		}
		u.run(do(want)...).wants(0)
		if now = undone(); now != want || u.repoShape() != is[want] {
			t.Fatalf("after %v, %v was done again; undone is said to be %v, and the folder is\n%s\nwant\n%s", sig, do(want), now, u.repoShape(), is[want])
		}
	}
	u.run("sessions", "verify", "--all").wants(0, "all sound")
	t.Logf("ended by a signal: %v; %d were through, or finished by the next adze", came, turned)
}

// TestWhatAnUndoLeavesOfGitCanBeUndoneLater: --git after an undo is about the same turn, and not
// about the one before.
func TestWhatAnUndoLeavesOfGitCanBeUndoneLater(t *testing.T) {
	u := repository(t)
	u.work("-- 1 --\n" + bash("echo first > first") + "-- 2 --\ntext: done\n")
	before := u.repoShape()
	u.goOn("-- 1 --\n" + bash("echo x > src/a.go; git -c user.name=a -c user.email=a@b commit -qam second") + "-- 2 --\ntext: done\n")
	u.undo().wants(0, "turn 2", "--git puts it back")
	left := u.repoShape()
	u.undo("--git").wants(0, "turn 2", ".git/refs/heads/main")
	if got := u.repoShape(); got != before {
		t.Errorf("it is\n%s\nwant\n%s", got, before)
	}
	u.run("redo").wants(0, "turn 2")
	if got := u.repoShape(); got != left {
		t.Errorf("redone, it is\n%s\nwant\n%s", got, left)
	}
	u.undo("--list").wants(0, "undone")
	u.undo().wants(0, "turn 1", "remove   first")
}
