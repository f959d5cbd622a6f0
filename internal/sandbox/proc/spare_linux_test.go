package proc_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim"
)

// sparing is a supervisor that keeps shims.
func sparing(t *testing.T) proc.Supervisor {
	t.Helper()
	s := proc.Supervisor{Spare: new(proc.Spare)}
	t.Cleanup(s.Spare.Close)
	return s
}

// under runs a script, whose first line of output is its shim, and returns that and the rest.
func under(t *testing.T, s proc.Supervisor, change func(*proc.Command), script string) (shim int, rest string) {
	t.Helper()
	c := shell("echo $PPID\n" + script)
	if change != nil {
		change(&c)
	}
	r, err := s.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(r.Output.Head, "\n")
	shim, err = strconv.Atoi(first)
	if err != nil {
		t.Fatalf("%+v", r)
	}
	return shim, rest
}

func TestACommandThatLeavesNothingHandsItsShimOn(t *testing.T) {
	s := sparing(t)
	first, _ := under(t, s, nil, "")
	for range 20 {
		if next, _ := under(t, s, nil, "(true) & wait; exit 3"); next != first {
			t.Fatalf("a second process, %d, beside %d, was started", next, first)
		}
	}
	s.Spare.Close()
	if syscall.Kill(first, 0) == nil {
		t.Error("it is there after Close")
	}
	next, _ := under(t, s, nil, "")
	await(t, "none is kept after Close", func() bool { return next != first && syscall.Kill(next, 0) != nil })
}

// What one command does to its own process, the next one must not see: each line of the probe is
// the same for the first command below a shim and for the last.
func TestNothingGoesFromOneCommandToTheNext(t *testing.T) {
	const probe = `umask; pwd; ulimit -a; trap; env | grep -v ADZE_CALL; ls -l /proc/self/fd | wc -l; readlink /proc/self/fd/0
		grep -E 'Sig(Blk|Ign|Cgt)|Cap|NoNewPrivs|Seccomp|Uid|Gid|Cpus_allowed_list' /proc/self/status; cat /proc/self/oom_score_adj
		ps -o sid= -p $$ | grep -c . ; tty`
	s := sparing(t)
	shim, want := under(t, s, nil, probe)
	for i, script := range []string{
		"umask 077; cd /; ulimit -n 20; ulimit -v 4000000; export A=b; trap '' TERM INT HUP; exec 9</dev/null",
		"set -m; (cd /tmp; exec sleep 0.001) & wait", "exec 0<&- 1>&- 2>&-", "kill -KILL $$",
	} {
		change := func(c *proc.Command) {
			c.Dir, c.Env = t.TempDir(), append(c.Env, "LEAK=1", "LD_BIND_NOW=1")
			if i == 1 {
				c.Input, c.Separate = []byte("in"), true
			}
		}
		if now, _ := under(t, s, change, script); now != shim {
			t.Fatalf("%q is below another shim", script)
		}
		if now, got := under(t, s, nil, probe); now != shim || got != want {
			t.Errorf("after %q, below %d and %d:\n%s\nwant:\n%s", script, now, shim, got, want)
		}
	}
}

func TestAShimIsNotHandedOn(t *testing.T) {
	for name, last := range map[string]func(proc.Supervisor){
		"after a job was left": func(s proc.Supervisor) { _, _ = s.Run(t.Context(), shell("sleep 1000 & exit 0")) },
		"after an escape":      func(s proc.Supervisor) { _, _ = s.Run(t.Context(), shell("setsid sleep 1000 & exit 0")) },
		"after a timeout": func(s proc.Supervisor) {
			c := shell("sleep 1000")
			c.Timeout = time.Millisecond
			_, _ = s.Run(t.Context(), c)
		},
		"after an abort": func(s proc.Supervisor) {
			ctx, cancel := context.WithCancel(t.Context())
			if p, err := s.Start(ctx, shell("sleep 1000")); err == nil {
				cancel()
				p.Wait()
			}
			cancel()
		},
		"when it was killed": func(s proc.Supervisor) {
			shim, _ := under(t, s, nil, "")
			_ = syscall.Kill(shim, syscall.SIGKILL)
			await(t, "all of its threads are gone", func() bool {
				threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", shim))
				return ended(shim) && len(threads) < 2
			})
		},
		"when it kills itself": func(s proc.Supervisor) { _, _ = s.Run(t.Context(), shell("kill -9 $PPID")) },
		"after a program that is not there": func(s proc.Supervisor) {
			c := shell("")
			c.Argv = []string{"/nowhere"}
			if _, err := s.Run(t.Context(), c); err == nil {
				t.Error("it ran")
			}
		},
		"with other limits": func(proc.Supervisor) {},
		"with a bound":      func(proc.Supervisor) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sparing(t)
			first, _ := under(t, s, nil, "")
			last(s)
			change := map[string]func(*proc.Command){
				"with other limits": func(c *proc.Command) { c.Limits = shim.Limits{OpenFiles: 40} },
				"with a bound":      func(c *proc.Command) { c.Memory = 1 << 30 },
			}[name]
			if next, _ := under(t, s, change, ""); next == first {
				t.Error("it was")
			}
		})
	}
}

func ended(pid int) bool {
	st, ok := shim.ReadStat(pid)
	return !ok || st.State == 'Z'
}

// Whatever is run below kept shims, at the same time and in any order, gives what it gives below a
// shim of its own.
func TestKeptShimsGiveTheSameResults(t *testing.T) {
	s := sparing(t)
	scripts := []string{
		"echo $N", "exit $((N % 7))", "kill -TERM $$", "cat", "echo out; echo err >&2", "sleep 1000 & echo left", "head -c 200000 /dev/zero | tr '\\0' x",
		"(sleep 0.002; echo late) & wait; echo done", "printf '%s' \"$BIG\" | wc -c",
	}
	var all sync.WaitGroup
	for worker := range 4 {
		random := rand.New(rand.NewPCG(uint64(worker), 1))
		all.Go(func() {
			for n := range 20 {
				c := shell(scripts[random.IntN(len(scripts))])
				c.Env = append(c.Env, fmt.Sprintf("N=%d", n), "BIG="+strings.Repeat("b", random.IntN(100_000)))
				c.Separate, c.Linger = random.IntN(2) == 0, false
				if random.IntN(2) == 0 {
					c.Input = []byte(strings.Repeat("input\n", random.IntN(20_000)))
				}
				want, err := proc.Supervisor{}.Run(t.Context(), c)
				got, err2 := s.Run(t.Context(), c)
				if err != nil || err2 != nil {
					t.Errorf("%v, %v", err, err2)
					return
				}
				if got.Code != want.Code || got.Signal != want.Signal || got.Killed != want.Killed || got.Output != want.Output ||
					got.Errors != want.Errors || got.Survivors != 0 || (got.Ended > 0) != (want.Ended > 0) {
					t.Errorf("%v: %+v, and alone %+v", c.Argv, got, want)
				}
			}
		})
	}
	all.Wait()
}

// The promise of this package holds below a shim that has had another command before, too.
func TestNothingOutlivesAnOwnerThatKeepsShims(t *testing.T) {
	for name, script := range map[string]string{
		"while it waits":       "echo $PPID >%[1]s/shim",
		"while a command runs": "echo $PPID >%[1]s/shim; setsid sleep %[2]s & sleep %[2]s",
	} {
		t.Run(name, func(t *testing.T) {
			dir, tag := t.TempDir(), newTag()
			t.Setenv("PROC_TEST_SPARE", fmt.Sprintf(script, dir, tag))
			owner := startOwner(t, "true", tag, "")
			var shim int
			await(t, "the shim is known", func() bool {
				raw, _ := os.ReadFile(dir + "/shim")
				shim, _ = strconv.Atoi(strings.TrimSpace(string(raw)))
				return shim > 0
			})
			_ = owner.Process.Kill()
			await(t, "the shim is gone", func() bool { return ended(shim) })
			awaitNone(t, tag)
		})
	}
}
