package sandbox_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/visibility"
)

// planVariable has a test binary plan commands, and mark the trace between them.
const (
	planVariable = "SANDBOX_PLANS"
	planMark     = "/between/two/plans"
)

// TestPlans is the program that the next test traces.
func TestPlans(t *testing.T) {
	if os.Getenv(planVariable) == "" {
		t.Skip("for another test")
	}
	b := newBench(t, sandbox.Landlock)
	cage := sandbox.ByMeans(b.box, sandbox.Landlock)
	// What has just been made is looked at again each time; go on until it is older than that.
	made := time.Time{}
	for more := 10; more > 0; {
		walls, err := cage.Enclose(context.Background(), proc.Command{Argv: []string{"true"}, Dir: b.work, Env: b.env()})
		if err != nil {
			t.Fatal(err)
		}
		walls.Done()
		for _, f := range walls.Files {
			_ = f.Close()
		}
		_, _ = os.Lstat(planMark)
		if made.IsZero() {
			made = time.Now()
		}
		if time.Since(made) > 4*visibility.ClockStep {
			more--
		}
	}
}

// To plan a command with Landlock, and to look after it, takes so many system calls on files. It
// took 214 when each command looked at every place anew. The least counts, because a busy machine
// has folders made anew in between.
func TestAPlanTakesFewSystemCalls(t *testing.T) {
	need(t, "strace")
	newBench(t, sandbox.Landlock)
	out := filepath.Join(t.TempDir(), "trace")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("strace", "-f", "-o", out, "-e", "trace=%file,%desc", self, "-test.run=^TestPlans$")
	cmd.Env = append(os.Environ(), planVariable+"=1")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("nothing can be traced here: %v %s", err, said)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	plans := strings.Split(string(data), planMark)
	least := len(data)
	for _, plan := range plans[1 : len(plans)-1] {
		n := 0
		for line := range strings.Lines(plan) {
			if strings.Contains(line, "(") && !strings.Contains(line, "epoll") && !strings.Contains(line, "resumed") {
				n++
			}
		}
		least = min(least, n)
	}
	const most = 100
	if least > most || len(plans) < 10 {
		t.Errorf("%d system calls for a command, at most %d; %d were planned", least, most, len(plans)-1)
	} else {
		t.Logf("%d system calls for a command", least)
	}
}

// The folder for temporary files is each command's own, also where it had been another's, and none
// stays behind.
func TestTemporaryFilesOfACommandAreItsOwn(t *testing.T) {
	b := newBench(t, sandbox.Landlock)
	cage := sandbox.ByMeans(b.box, sandbox.Landlock)
	seen := map[string]int{}
	for _, left := range []string{"", "echo x > $TMPDIR/file;", "mkdir $TMPDIR/folder;", "rmdir $TMPDIR;", "rmdir $TMPDIR; ln -s / $TMPDIR;", ""} {
		r, err := b.try(t.Context(), cage, `echo "$TMPDIR $(stat -c %A "$TMPDIR") $(ls -A "$TMPDIR" | wc -l)";`+left)
		f := strings.Fields(text(r))
		if err != nil || len(f) != 3 || f[1] != "drwx------" || f[2] != "0" {
			t.Fatalf("before %q: %q %v", left, text(r), err)
		}
		seen[f[0]]++
	}
	if len(seen) == 6 {
		t.Error("no folder was used twice")
	}
	b.box.Close()
	if left, _ := filepath.Glob(filepath.Join(b.state, "sandbox", "cache", "*", "tmp-*")); len(left) > 0 {
		t.Errorf("%v stay", left)
	}
}
