package gctuning

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
)

// alone runs a test in a process of its own, because what it changes is the process's.
func alone(t *testing.T, env ...string) bool {
	t.Helper()
	if os.Getenv("HEAP_ALONE") != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GOGC=") && !strings.HasPrefix(v, "GOMEMLIMIT=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(append(cmd.Env, "HEAP_ALONE=1"), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// percent is what is set now.
func percent() int {
	was := debug.SetGCPercent(easyPercent)
	debug.SetGCPercent(was)
	return was
}

// settle collects until what waits for collections has run, or often enough for that.
func settle(done func() bool) bool {
	for range 10_000 {
		runtime.GC()
		if done() {
			return true
		}
		runtime.Gosched()
	}
	return false
}

func TestASmallHeapIsCollectedLate(t *testing.T) {
	if !alone(t) {
		return
	}
	Start(ForgetStart)
	var asked atomic.Int32
	await(func() bool { asked.Add(1); return true })
	if !settle(func() bool { return asked.Load() > 3 }) || percent() <= easyPercent || next() > roomy+roomy/10 {
		t.Errorf("after %d collections at %d %%, the next at %d bytes", asked.Load(), percent(), next())
	}
	held := make([][]byte, 8)
	for i := range held {
		held[i] = make([]byte, 1<<20)
	}
	if !settle(func() bool { return percent() == usualPercent }) {
		t.Errorf("%d bytes until the next, at %d %%", next(), percent())
	}
	runtime.KeepAlive(held)
}

func TestWhoSetsThePercentIsObeyed(t *testing.T) {
	if !alone(t, "GOGC=70") {
		return
	}
	Start(ForgetStart)
	if got := debug.SetGCPercent(100); got != 70 {
		t.Errorf("%d %%", got)
	}
}

func TestThePercentFollowsWhatLives(t *testing.T) {
	for live, want := range map[uint64]int{0: 250, 1 << 20: 250, 4 << 20: 150, 5 << 20: 100, 50 << 20: 100} {
		if got := percentFor(live); got != want {
			t.Errorf("%d bytes: %d %%, want %d", live, got, want)
		}
	}
}
