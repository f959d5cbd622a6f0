package toolset

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"adze/internal/files/workspace"
	"adze/internal/sandbox/proc"
	"adze/internal/testkit/posix"
	"adze/tool"
)

// shellBench is a catalogue with a shell that the test can reach into, and the updates it emitted.
type shellBench struct {
	*bench
	shell *Shell

	mu      sync.Mutex
	updates []tool.Event
}

func newShellBench(t *testing.T, change func(*Shell)) *shellBench {
	t.Helper()
	dir := t.TempDir()
	root, err := workspace.OpenWith(dir, workspace.Options{LockDir: t.TempDir(), Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	b := &shellBench{bench: &bench{dir: root.Dir()}, shell: caseShell(t, dir)}
	if change != nil {
		change(b.shell)
	}
	registry, err := New(Deps{Root: root, KnownFiles: &workspace.KnownFiles{}, Shell: b.shell})
	if err != nil {
		t.Fatal(err)
	}
	b.set, err = registry.Tools(t.Context(), tool.Init{Workspace: b.dir, Directory: b.dir, Cwd: b.dir})
	if err != nil {
		t.Fatal(err)
	}
	b.runner = &tool.Runner{
		Now: b.shell.Now,
		Gate: tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) {
			return tool.Decision{Allow: true}, nil
		}),
		Emit: func(e tool.Event) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.updates = append(b.updates, e)
		},
	}
	return b
}

func (b *shellBench) bash(ctx context.Context, command string) tool.Outcome {
	b.calls++
	call := tool.RawCall{ID: tool.CallID(fmt.Sprintf("call_%d", b.calls)), Name: "bash", Arguments: fmt.Sprintf(`{"command": %q}`, command)}
	return b.runner.Exec(ctx, b.runner.Hydrate(ctx, b.set, []tool.RawCall{call})[0])
}

// saw reports whether an update holds text.
func (b *shellBench) saw(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.updates, func(e tool.Event) bool {
		return e.Kind == tool.Updated && strings.Contains(string(e.Metadata), text)
	})
}

func needBash(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
}

func TestBashLongOutputIsCutInTheMiddleAndStored(t *testing.T) {
	needBash(t)
	for name, c := range map[string]struct{ command, start, end, notice string }{
		"by bytes":    {"for ((i = 1; i <= 5000; i++)); do printf '%040d\\n' $((i * i)); done", "0001\n", "25000000\nexit code 0 after 0s", " lines, "},
		"by lines":    {"for ((i = 1; i <= 3000; i++)); do echo $((i * i)); done", "1\n4\n9\n", "8994001\n9000000\nexit code 0 after 0s", " left out here; the whole is in "},
		"folded":      {"yes | head -20000; echo end", "y\n(… the line above 19,999 more times)\nend\n(shortened; the whole is in ", "or grep it)\nexit code 0 after 0s", "(shortened"},
		"a long line": {"printf %0300000d 7; echo", "0000", "0007\nexit code 0 after 0s", " bytes of this line left out)… "},
	} {
		t.Run(name, func(t *testing.T) {
			b := newShellBench(t, nil)
			o := b.bash(t.Context(), c.command)
			if o.Status != tool.Completed || !o.Truncated || len(o.Output) > 9<<10 {
				t.Errorf("status %s, truncated %v, %d bytes", o.Status, o.Truncated, len(o.Output))
			}
			first, _, _ := strings.Cut(o.Output, "0004\n")
			if !strings.Contains(first, c.start) || !strings.HasSuffix(o.Output, c.end) || !strings.Contains(o.Output, c.notice) {
				t.Errorf("output %.200q … %.200q", o.Output, o.Output[len(o.Output)-200:])
			}
			stored, err := os.ReadFile(o.OutputFile)
			if err != nil {
				t.Fatal(err)
			}
			want, err := exec.Command("bash", "-c", c.command).Output()
			if err != nil || string(stored) != string(want) {
				t.Errorf("stored %d bytes, want %d, %v", len(stored), len(want), err)
			}
		})
	}
}

func TestBashShortOutputLeavesNoFile(t *testing.T) {
	needBash(t)
	b := newShellBench(t, nil)
	if o := b.bash(t.Context(), "seq 1 100"); o.OutputFile != "" || o.Truncated {
		t.Errorf("outcome %+v", o)
	}
	if _, err := os.Stat(filepath.Join(b.dir, ".spill")); err == nil {
		t.Error("a file was made")
	}
}

func TestBashShowsOutputWhileItRuns(t *testing.T) {
	needBash(t)
	b := newShellBench(t, nil)
	fifo := filepath.Join(b.dir, "go-on")
	if err := posix.Fifo(t, fifo); err != nil {
		t.Skip("needs FIFOs:", err)
	}
	done := make(chan tool.Outcome)
	go func() { done <- b.bash(t.Context(), "echo seen early; read line <go-on; echo end") }()
	// Opening the FIFO for writing returns when the command reads it, which is after its first
	// line.
	f, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	poll(t, "a live update", func() bool { return b.saw(`"tail":"seen early\n"`) })
	if b.saw("duration_ms") {
		t.Error("a live update holds a duration")
	}
	f.Close()
	if o := <-done; !strings.HasPrefix(o.Output, "seen early\nend\n") {
		t.Errorf("outcome %+v", o)
	}
}

func TestBashAbort(t *testing.T) {
	needBash(t)
	b := newShellBench(t, nil)
	ctx, abort := context.WithCancel(t.Context())
	defer abort()
	done := make(chan tool.Outcome)
	go func() { done <- b.bash(ctx, "echo begun; sleep 1000") }()
	poll(t, "the command's output", func() bool { return b.saw(`"tail":"begun\n"`) })
	abort()
	o := <-done
	if o.Status != tool.Aborted || o.Code != tool.CodeAborted || o.Output != "begun\naborted after 0s; all its processes were ended" {
		t.Errorf("outcome %+v", o)
	}
}

func TestBashHasNoSecrets(t *testing.T) {
	needBash(t)
	base := append(os.Environ(), "MY_API_KEY=tell-nobody", "PLAIN=fine")
	b := newShellBench(t, func(s *Shell) { s.Env = proc.Environ(base, proc.EnvPolicy{}) })
	o := b.bash(t.Context(), `env; cat /proc/*/environ 2>/dev/null | tr '\0' '\n' | grep -c tell-nobody`)
	if strings.Contains(o.Output, "tell-nobody") || !strings.Contains(o.Output, "PLAIN=fine") {
		t.Errorf("output %s", o.Output)
	}
}

func TestBashFallsBackToSh(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("sh is not installed")
	}
	bin := t.TempDir()
	if err := os.Symlink(sh, filepath.Join(bin, "sh")); err != nil {
		t.Skip("needs links:", err)
	}
	b := newShellBench(t, func(s *Shell) { s.Env = []string{"PATH=" + bin} })
	if o := b.bash(t.Context(), "echo hi"); o.Output != "hi\n(bash is not installed; sh ran it)\nexit code 0 after 0s" {
		t.Errorf("output %q", o.Output)
	}
}

func TestBashTellsItsDuration(t *testing.T) {
	needBash(t)
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	b := newShellBench(t, func(s *Shell) {
		s.Now = func() time.Time { clock = clock.Add(1234 * time.Millisecond); return clock }
	})
	b.runner.Now = nil
	o := b.bash(t.Context(), "true")
	if o.Output != "(no output)\nexit code 0 after 1.234s" || !strings.Contains(string(o.Metadata), `"duration_ms":1234`) {
		t.Errorf("output %q, metadata %s", o.Output, o.Metadata)
	}
}

// Ends that a test cannot bring about quickly.
func TestBashVerdict(t *testing.T) {
	x := &bashCall{basher: basher{shell: NewShell(proc.Supervisor{}, nil)}, limit: 2 * time.Minute}
	for want, r := range map[string]proc.Result{
		"timed out after 2m0s and was ended; give a longer timeout (at most 600) or use background: true": {Killed: proc.Timeout},
		"ended after 5s because it wrote 9 bytes; filter its output or redirect it to a file":             {Killed: proc.Limited, Output: proc.Text{Bytes: 9}, Duration: 5 * time.Second},
		"its supervising process was killed after 1ms, so it was ended too; do not kill parent processes": {Killed: proc.Lost, Duration: time.Millisecond},
		"ended by SIGKILL after 12.3s": {Signal: syscall.SIGKILL, Code: -1, Duration: 12345 * time.Millisecond},
	} {
		if err := x.verdict(r); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	notes := x.notes(proc.Result{Survivors: 2, Ended: 1})
	if len(notes) != 2 || !strings.Contains(notes[1], "2 processes could not be ended") {
		t.Errorf("notes %q", notes)
	}
}

func TestEndsInCD(t *testing.T) {
	for command, want := range map[string]bool{
		"cd x": true, "cd": true, "make && cd x": true, "ls; cd 'a b';": true, "pushd x": true, "a\ncd x\n": true,
		"cd x && make": false, "(cd x; make)": false, "echo cd": false, "abcd": false, "cd x; ls": false, "git config cd x": false,
	} {
		if got := endsInCD().MatchString(command); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
}

func TestShellCloseEndsJobs(t *testing.T) {
	needBash(t)
	b := newShellBench(t, nil)
	if o := b.play(t, "bash", `{"command": "sleep 1000", "background": true}`).outcome; o.Status != tool.Completed {
		t.Fatalf("outcome %+v", o)
	}
	if o := b.play(t, "bash_output", `{"job": "job1"}`).outcome; !o.Pending { // who asks again does not repeat itself
		t.Errorf("outcome %+v", o)
	}
	b.shell.Close()
	if o := b.play(t, "bash_output", `{"job": "job1"}`).outcome; o.Pending {
		t.Errorf("outcome %+v", o)
	}
	if jobs := b.shell.jobs.List(); len(jobs) != 1 || jobs[0].Running {
		t.Errorf("jobs %+v", jobs)
	}
	o := b.play(t, "bash", `{"command": "true", "background": true}`).outcome
	if o.Code != tool.CodeAborted {
		t.Errorf("a job started after the end: %+v", o)
	}
}

func TestListProcessesMarksJobs(t *testing.T) {
	needBash(t)
	b := newShellBench(t, func(s *Shell) { s.Processes = proc.Processes })
	if o := b.play(t, "bash", `{"command": "sleep 98765 & sleep 98766", "background": true}`).outcome; o.Status != tool.Completed {
		t.Fatalf("outcome %+v", o)
	}
	poll(t, "both processes marked", func() bool {
		o := b.play(t, "list_processes", `{"filter": "sleep 9876"}`).outcome
		return strings.Count(o.Output, "[job1] sleep 98765") == 1 && strings.Count(o.Output, "[job1] sleep 98766") == 1
	})
}

// patience ends a wait for what will never be. It decides no test that passes, however busy the
// machine is.
const patience = 2 * time.Minute

// poll waits for a condition.
func poll(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if !eventually(ok) {
		t.Fatalf("still not: %s", what)
	}
}

// eventually looks until a condition holds, and leaves the processor to what it waits for.
func eventually(holds func() bool) bool {
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for start := time.Now(); !holds(); <-look.C {
		if time.Since(start) > patience {
			return false
		}
	}
	return true
}

func TestBashDecodesWhatIsNoUTF8(t *testing.T) {
	needBash(t)
	b := newShellBench(t, nil)
	for command, want := range map[string]string{
		`printf 'gr\xfc\xdfe\n'`:                      "grüße\n(decoded from latin-1)\nexit",
		`echo grüße; printf 'gr\xfc\xdfe\n'`:          "grüße\ngrüße\n(decoded from latin-1)\nexit",
		`printf '\xff\xfeo\0n\0e\0\n\0t\0w\0o\0\n\0'`: "one\ntwo\n(decoded from utf-16le)\nexit",
	} {
		if o := b.bash(t.Context(), command); !strings.HasPrefix(o.Output, want) {
			t.Errorf("%s: %q, want %q", command, o.Output, want)
		}
	}
}
