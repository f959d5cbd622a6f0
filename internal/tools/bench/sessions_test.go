//go:build unix

package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// twelve is how many sessions somebody has at once who has many.
const twelve = 12

// asks is what each of them does: it reads, and then wants to change something.
func asks() []string {
	return append(calls("read", 8), `{"name":"bash","arguments":"{\"command\":\"touch x\",\"description\":\"make x\"}"}`)
}

var processOf = regexp.MustCompile(`\(process (\d+)\)`)

// background starts a session without a terminal. It is killed at the end of the test.
func (r runner) background(t *testing.T) idle {
	t.Helper()
	cmd := r.bare(r.command("adze", "--background", "--permission-mode", "ask", "--model", "openai/m", "make x"))
	out, err := cmd.CombinedOutput()
	m := processOf.FindSubmatch(out)
	if err != nil || m == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	pid, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) }) // it may have ended
	return idle{"a session that waits", pid}
}

// waiting looks until so many sessions wait for an answer.
func (r runner) waiting(t *testing.T, n int) {
	t.Helper()
	for {
		out, err := r.bare(r.command("adze", "sessions", "--json")).Output()
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Count(out, []byte(`"state":"needs you"`)) == n {
			return
		}
		if bytes.Contains(out, []byte(`"state":"done"`)) {
			t.Fatalf("a session did not ask:\n%s", out)
		}
	}
}

// TestCountsOfTwelveSessions has twelve sessions wait for an answer at once, and one window show them
// all. None is woken, and each beyond the first holds little.
//
//	ADZE_TESTS=short go test -v -run TestCountsOfTwelveSessions ./internal/tools/bench
func TestCountsOfTwelveSessions(t *testing.T) {
	r := newRatchet(t)
	if _, err := os.Stat("/proc/self/smaps_rollup"); err != nil {
		t.Skip("the system does not tell what memory is shared")
	}
	on := ground(t, newInstant(t, asks()...))
	t.Setenv("XDG_RUNTIME_DIR", "") // the overview looks where the sessions are
	on.withMarks(t)
	all := []idle{on.background(t)}
	on.waiting(t, 1)
	settled(t, all)
	first := heldBelow(all[0].pid)
	for len(all) < twelve {
		all = append(all, on.background(t))
	}
	on.waiting(t, twelve)
	overview, _ := showWhen(t, on, "make x", "sessions")
	t.Cleanup(overview.kill)
	go overview.drain()
	wakeUps := settled(t, append(all, idle{"the overview", overview.cmd.Process.Pid}))
	r.least(func() map[string]int64 {
		counts := wakeUps()
		named := map[string]int64{"idle, 10 s of the overview of twelve: wake-ups": counts[twelve]}
		for _, n := range counts[:twelve] {
			named["idle, 10 s of twelve sessions that wait: wake-ups"] += n
		}
		return named
	})
	var sum float64
	for _, s := range all {
		sum += heldBelow(s.pid)
	}
	further := (sum - first) / (twelve - 1)
	t.Logf("one session holds %.1f MB, each further one %.1f, the overview %.1f", first/1e6, further/1e6, heldBelow(overview.cmd.Process.Pid)/1e6)
	if further > mostFurther {
		t.Errorf("each further session holds %.1f MB, want at most %.1f", further/1e6, mostFurther/1e6)
	}
}

// mostFurther is how much memory a session may hold beyond the first one, in bytes.
const mostFurther = 15e6

// BenchmarkSessions has one session make a hundred calls, and then twelve at once, of one store. A
// window shows them all meanwhile.
func BenchmarkSessions(b *testing.B) {
	var plan []string
	for i := range 25 {
		for _, tool := range []string{"read", "grep", "edit", "bash"} {
			plan = append(plan, calls(tool, i+1)[i])
		}
	}
	b.Setenv("XDG_RUNTIME_DIR", "") // the window looks where the sessions are
	for _, n := range []int{1, twelve} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			on := newRunner(b, newInstant(b, plan...))
			on.withMarks(b)
			on.measure(on.adze("the first")) // it is in the list before the others
			overview, _ := showWhen(b, on, "the first", "sessions")
			defer overview.kill()
			go overview.drain()
			var cpu, peak float64
			shown, began := -ticks(overview.cmd.Process.Pid), time.Now()
			for b.Loop() {
				var all []*exec.Cmd
				for range n {
					r := on
					r.dir = b.TempDir()
					r.withMarks(b)
					cmd := r.adze("go")
					cmd.Stdout, cmd.Stderr = new(strings.Builder), new(strings.Builder)
					must(b, cmd.Start())
					all = append(all, cmd)
				}
				for _, cmd := range all {
					if err := cmd.Wait(); err != nil {
						b.Fatalf("%v\n%s", err, cmd.Stderr)
					}
					cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
					if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
						peak = max(peak, float64(u.Maxrss)/1e3)
					}
				}
			}
			shown += ticks(overview.cmd.Process.Pid)
			b.ReportMetric(1000*cpu/float64(b.N*n), "cpu-ms/session")
			b.ReportMetric(peak, "peak-MB")
			b.ReportMetric(float64(shown)*10/time.Since(began).Seconds(), "overview-cpu-ms/s")
		})
	}
}

// ticks is the CPU time that a process has used, in hundredths of a second; 0 where the system does
// not tell.
func ticks(pid int) int64 {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := bytes.Cut(raw, []byte(") "))
	fields := bytes.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(string(fields[11]), 10, 64)
	system, _ := strconv.ParseInt(string(fields[12]), 10, 64)
	return user + system
}
