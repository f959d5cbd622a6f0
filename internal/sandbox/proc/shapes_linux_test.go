package proc_test

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim"
	"adze/internal/testkit/effort"
)

// shapes are the ways in which a command leaves processes behind. T is a sleep that carries the
// tag. Each starts at least one process besides the shell.
func shapes() map[string]string {
	return map[string]string{
		"background":        "T & ",
		"nohup":             "nohup T >/dev/null 2>&1 & ",
		"setsid":            "setsid T & ",
		"double fork":       "(setsid sh -c '(T &) & exit' &) ; ",
		"TERM ignored":      "trap '' TERM HUP INT; T & ",
		"shell exits first": "(T & T & exit 0) & exit 0; ",
		"streams closed":    "setsid T <&- >&- 2>&- & ",
		"stopped":           "T & kill -STOP $!; ",
	}
}

func script(shape, tag string) string { return strings.ReplaceAll(shape, "T ", "sleep "+tag+" ") }

// endings are the ways in which a call ends. Each gets a script that leaves processes behind and
// returns when the call is over.
func endings() map[string]func(t *testing.T, shape, tag string) {
	return map[string]func(t *testing.T, shape, tag string){
		"normal exit": func(t *testing.T, shape, tag string) {
			c := shell(script(shape+"true", tag))
			c.Tag = tag
			if r := run(t, c); r.Killed != proc.ByItself || r.Code != 0 || r.Survivors != 0 {
				t.Errorf("result %+v", r)
			}
		},
		"timeout": func(t *testing.T, shape, tag string) {
			c := shell(script(shape+"T ", tag))
			c.Tag, c.Linger, c.Timeout = tag, true, 300*time.Millisecond
			if r := run(t, c); r.Killed != proc.Timeout && !strings.Contains(shape, "exit 0;") {
				t.Errorf("result %+v", r)
			}
		},
		"abort": func(t *testing.T, shape, tag string) {
			ctx, abort := context.WithCancel(t.Context())
			defer abort()
			c := shell(script(shape+"T ", tag))
			c.Tag, c.Linger = tag, true
			p, err := proc.Supervisor{}.Start(ctx, c)
			if err != nil {
				t.Fatal(err)
			}
			awaitSome(t, tag, 2)
			abort()
			if r := p.Wait(); r.Survivors != 0 {
				t.Errorf("result %+v", r)
			}
		},
		"SIGTERM of the owner": func(t *testing.T, shape, tag string) { endOwner(t, shape, tag, syscall.SIGTERM) },
		"SIGKILL of the owner": func(t *testing.T, shape, tag string) { endOwner(t, shape, tag, syscall.SIGKILL) },
	}
}

func endOwner(t *testing.T, shape, tag string, sig syscall.Signal) {
	o := startOwner(t, script(shape+"T ", tag), tag, "")
	awaitSome(t, tag, 2)
	if err := o.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	_ = o.Wait()
}

func TestNothingSurvives(t *testing.T) {
	need(t, "setsid")
	for shapeName, shape := range shapes() {
		for endingName, end := range endings() {
			t.Run(shapeName+"/"+endingName, func(t *testing.T) {
				t.Parallel()
				tag := newTag()
				end(t, shape, tag)
				awaitNone(t, tag)
			})
		}
	}
}

// A process that is born while its family is being killed must die too.
func TestForkStormEnds(t *testing.T) {
	need(t, "setsid")
	tag := newTag()
	ctx, abort := context.WithCancel(t.Context())
	defer abort()
	c := shell("trap '' TERM; " + script("while :; do (setsid T & (T &)) ; done", tag))
	c.Tag = tag
	p, err := proc.Supervisor{}.Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	awaitSome(t, tag, 150)
	abort()
	if r := p.Wait(); r.Killed != proc.Aborted || r.Survivors != 0 || r.Ended < 100 {
		t.Errorf("result %+v", r)
	}
	awaitNone(t, tag)
}

// A command that kills its own shim is found again by the mark in its environment.
func TestKilledShimLeavesNothing(t *testing.T) {
	need(t, "setsid")
	tag := newTag()
	c := shell(script("setsid T & kill -9 $PPID; T ", tag))
	c.Tag = tag
	if r := run(t, c); r.Killed != proc.Lost || r.Survivors != 0 {
		t.Errorf("result %+v", r)
	}
	awaitNone(t, tag)
}

func parentOf(t *testing.T, pid int) int {
	t.Helper()
	st, ok := shim.ReadStat(pid)
	if !ok {
		t.Fatal("the command has ended")
	}
	return st.Parent
}

func mkfifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("needs FIFOs:", err)
	}
	return path
}

// A shim that does not react is killed in the end, and the abort stays the reason.
func TestStuckShimIsKilled(t *testing.T) {
	effort.Needs(t, effort.Short, "waits for the shim as long as a call would")
	need(t, "setsid")
	tag, fifo := newTag(), mkfifo(t)
	c := shell(script("setsid T & read go <"+fifo+"; kill -STOP $PPID; T ", tag))
	c.Tag = tag
	p, err := proc.Supervisor{}.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fifo, []byte("\n"), 0); err != nil { // only now, so that Start has returned
		t.Fatal(err)
	}
	await(t, "a stopped shim", func() bool {
		st, ok := shim.ReadStat(parentOf(t, p.PID()))
		return ok && st.State == 'T'
	})
	p.End(proc.Aborted)
	if r := p.Wait(); r.Killed != proc.Aborted || r.Survivors != 0 || r.Ended < 2 {
		t.Errorf("result %+v", r)
	}
	awaitNone(t, tag)
}

// Signals sent to the shim, by pkill say, neither end it nor reach the command.
func TestShimIsDeafButCommandIsNot(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("SIGHUP is ignored here, as under nohup, and a command inherits that")
	}
	r := run(t, shell("kill -TERM $PPID; kill -HUP $PPID; kill -INT $PPID; grep SigIgn /proc/self/status; kill -TERM $$; echo unreached"))
	if r.Killed != proc.ByItself || r.Signal != syscall.SIGTERM {
		t.Errorf("result %+v", r)
	}
	if got := strings.Fields(r.Output.Head); len(got) != 2 || strings.Trim(got[1], "0") != "" {
		t.Errorf("ignored signals and output: %q", r.Output.Head)
	}
}

func TestCommandIsAlone(t *testing.T) {
	r := run(t, shell(`
		test -t 0 && echo terminal
		(: </dev/tty) 2>/dev/null && echo controlling terminal
		cat
		ls -l /proc/self/fd | grep -c pipe:
		tr '\0' '\n' </proc/$PPID/environ | grep -v GOMAXPROCS
		read _ _ _ _ group session _ </proc/self/stat; test $session = $$ && test $group = $$ && echo own session`))
	want := "2\nown session\n" // ls itself has its two streams and nothing of adze's
	if r.Output.Head != want {
		t.Errorf("output %q, want %q", r.Output.Head, want)
	}
}

// A pipe that a stranger holds open must not hold the call: here the test itself is the stranger.
func TestHeldPipeDoesNotBlock(t *testing.T) {
	fifo := mkfifo(t)
	c := shell("echo /proc/$$/fd/1; read line <" + fifo)
	p, err := proc.Supervisor{}.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	await(t, "path of the pipe", func() bool { return p.Output().Last(100).Lines == 1 })
	held, err := os.OpenFile(strings.TrimSpace(p.Output().Last(100).Tail), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := os.WriteFile(fifo, []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	if r := p.Wait(); r.Code != 0 || r.Output.Lines != 1 {
		t.Errorf("result %+v", r)
	}
}
