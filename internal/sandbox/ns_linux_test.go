package sandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
)

func TestNamespaces(t *testing.T) {
	b := newBench(t, sandbox.Namespaces)
	r := b.run(`set -e
id -u; echo made > file; cat file; test -w /tmp; echo a > /tmp/b
ls -A ../.ssh 2>/dev/null | wc -l; echo out 2>/dev/null > ../other/file || echo held
readlink /proc/self; test -e /dev/pts/ptmx; echo x > /dev/null; head -c1 /dev/urandom >/dev/null; echo $GOCACHE; touch $XDG_CACHE_HOME/x`)
	if want := "\nmade\n0\nheld\n"; r.Err() != nil || !strings.Contains(text(r), want) || !strings.Contains(text(r), "/run/adze/cache/go-build") {
		t.Fatal(text(r), r.Err())
	}
	if data, err := os.ReadFile(filepath.Join(b.work, "file")); err != nil || string(data) != "made\n" {
		t.Error(err, string(data))
	}
}

func TestNothingRunsInABoxThatCannotBeBuilt(t *testing.T) {
	b := newBench(t, sandbox.Namespaces)
	if err := os.Rename(b.work, b.work+"-moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(b.work, 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := b.try(t.Context(), b.box, "echo ran > ran")
	if err == nil || !strings.Contains(err.Error(), "was not run") {
		t.Errorf("another folder in the place of the workspace: %v %v", err, r)
	}
	if _, err := os.Stat(filepath.Join(b.work, "ran")); err == nil {
		t.Error("it ran")
	}
}

func TestPIDsAreThoseOutside(t *testing.T) {
	b := newBench(t, sandbox.Namespaces)
	ctx, cancel := context.WithCancel(t.Context())
	p, err := proc.Supervisor{Cage: b.box}.Start(ctx, proc.Command{Argv: []string{"sleep", "1000"}, Dir: b.work, Env: b.env()})
	if err != nil {
		t.Fatal(err)
	}
	// The arguments are shown a moment after the program before is gone (proc(5)).
	var args []byte
	for err = nil; err == nil && len(args) == 0; args, err = os.ReadFile("/proc/" + itoa(p.PID()) + "/cmdline") {
	}
	if string(args) != "sleep\x001000\x00" {
		t.Errorf("process %d is %q", p.PID(), args)
	}
	cancel()
	if r := p.Wait(); r.Killed != proc.Aborted || r.Survivors != 0 {
		t.Errorf("ended as %+v", r)
	}
}

func TestBoundsOfACommand(t *testing.T) {
	need(t, "bash", "python3")
	b := newBench(t, sandbox.Namespaces)
	for name, c := range map[string]struct {
		options sandbox.Options
		script  string
		want    proc.Reason
	}{
		"memory": {sandbox.Options{Memory: 64 << 20}, `head -c 300000000 /dev/zero | tail; sleep 100`, proc.TooMuchMemory},
		"shared": {sandbox.Options{Memory: 256 << 20}, `python3 -c 'import os, time
kept = bytearray(os.urandom(1)) * (80 << 20)
for i in range(8):
    if os.fork() == 0: time.sleep(1); os._exit(0)
for i in range(8): os.wait()'`, proc.ByItself},
		"forked": {sandbox.Options{Memory: 256 << 20}, `python3 -c 'import os, time
for i in range(8):
    if os.fork() == 0: kept = bytearray(os.urandom(1)) * (80 << 20); time.sleep(100)
os.wait()'`, proc.TooMuchMemory},
		"processes": {sandbox.Options{Processes: 20}, `for i in $(seq 60); do sleep 100 & done; wait`, proc.TooManyProcesses},
	} {
		o := c.options
		o.Workspace, o.Home, o.State, o.Techniques = b.work, b.home, b.state, []sandbox.Technique{sandbox.Namespaces}
		s := sandbox.New(o)
		r, err := b.try(t.Context(), s, c.script)
		if err != nil || r.Killed != c.want || r.Survivors != 0 {
			t.Errorf("%s: %v, ended by %q with %d left: %s", name, err, r.Killed, r.Survivors, text(r))
		}
		s.Close()
	}
}

func TestOrdinaryUser(t *testing.T) {
	asOrdinaryUser(t, "^Test(Namespaces|NothingRunsInABoxThatCannotBeBuilt|PIDsAreThoseOutside|BoundsOfACommand|LevelOfEachMeans|ARepositoryThatIsWorkedIn)$")
}

// TestRootReachesFilesOfOthers: root maps everybody in its namespaces, so that who owns a file is
// told as it is, and a workspace of another user, below a folder that is closed to others, is one
// like any.
func TestRootReachesFilesOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has files of others to reach")
	}
	b := newBench(t, sandbox.Namespaces)
	b.write("work/theirs", "text\n")
	for _, path := range []string{b.home, b.work, filepath.Join(b.work, "theirs")} {
		if err := os.Chown(path, 12345, 12346); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r := b.run("set -e; stat -c %u:%g theirs; cat theirs; echo more >> theirs; tail -n 1 theirs; grep Cap /proc/self/status")
	if !strings.HasPrefix(text(r), "12345:12346\ntext\nmore\n") || r.Err() != nil {
		t.Error(text(r), r.Err())
	}
	if want := "CapInh:\t0000000000000000\nCapPrm:\t000000000000001b\nCapEff:\t000000000000001b\nCapBnd:\t000000000000001b\nCapAmb:\t0000000000000000"; !strings.Contains(text(r), want) {
		t.Errorf("it has other rights than those over files:\n%s", text(r))
	}
}

// TestACommandCopiesNothingOfAdze: a copy of the memory map for each command would cost the more,
// the more adze holds, and would be seen in the faults of who writes to a page that was shared for
// it.
func TestACommandCopiesNothingOfAdze(t *testing.T) {
	b := newBench(t, sandbox.Namespaces)
	const size, page = 16 << 20, 4 << 10
	mem, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(mem) }()
	const noHugePages, thisThread = 15, 1 // MADV_NOHUGEPAGE, RUSAGE_THREAD
	if err := syscall.Madvise(mem, noHugePages); err != nil {
		t.Skip("pages cannot be counted here:", err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	touch := func() int64 {
		var before, after syscall.Rusage
		_ = syscall.Getrusage(thisThread, &before)
		for i := 0; i < size; i += page {
			mem[i]++
		}
		_ = syscall.Getrusage(thisThread, &after)
		return after.Minflt - before.Minflt
	}
	touch()
	if still := touch(); still > size/page/4 {
		t.Skipf("%d faults without a command", still)
	}
	b.run("true")
	if faults := touch(); faults > size/page/4 {
		t.Errorf("%d of %d pages were copied or shared for a command", faults, size/page)
	}
}
