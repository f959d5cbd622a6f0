package sandbox_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"adze/internal/proc"
	"adze/internal/sandbox"
)

// plansVariable has a test binary plan that many commands.
const plansVariable = "SANDBOX_PLANS"

// TestPlans is the program that the next test traces.
func TestPlans(t *testing.T) {
	times, err := strconv.Atoi(os.Getenv(plansVariable))
	if err != nil {
		t.Skip("for another test")
	}
	b := newBench(t, sandbox.Landlock)
	cage := sandbox.ByMeans(b.box, sandbox.Landlock)
	for range times {
		walls, err := cage.Enclose(context.Background(), proc.Command{Argv: []string{"true"}, Dir: b.work, Env: b.env()})
		if err != nil {
			t.Fatal(err)
		}
		walls.Done()
		for _, f := range walls.Files {
			_ = f.Close()
		}
	}
}

// To plan a command with Landlock, and to look after it, takes so many system calls on files. It took 214 when each command
// looked at every place anew; in a process that has just begun, folders that have just been made are still read.
func TestAPlanTakesFewSystemCalls(t *testing.T) {
	need(t, "strace")
	newBench(t, sandbox.Landlock)
	calls := func(plans int) int {
		out := filepath.Join(t.TempDir(), "trace")
		cmd := exec.Command("strace", "-f", "-o", out, "-e", "trace=%file,%desc", "/proc/self/exe", "-test.run=^TestPlans$")
		cmd.Args[len(cmd.Args)-2], _ = os.Executable()
		cmd.Env = append(os.Environ(), plansVariable+"="+strconv.Itoa(plans))
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("nothing can be traced here: %v %s", err, said)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, "(") && !strings.Contains(line, "epoll") && !strings.Contains(line, "resumed") {
				n++
			}
		}
		return n
	}
	const more = 60
	const most = 120
	if each := (calls(1+more) - calls(1)) / more; each > most {
		t.Errorf("%d system calls for a command, at most %d", each, most)
	} else {
		t.Logf("%d system calls for a command", each)
	}
}

// The folder for temporary files is each command's own, also where it had been another's, and none stays behind.
func TestTemporaryFilesOfACommandAreItsOwn(t *testing.T) {
	b := newBench(t, sandbox.Landlock)
	cage := sandbox.ByMeans(b.box, sandbox.Landlock)
	seen := map[string]int{}
	for _, left := range []string{"", "echo x > $TMPDIR/file;", "mkdir $TMPDIR/folder;", "chmod 755 $TMPDIR;", "rmdir $TMPDIR;", "rmdir $TMPDIR; ln -s / $TMPDIR;", ""} {
		r, err := b.try(t.Context(), cage, `echo "$TMPDIR $(stat -c %A "$TMPDIR") $(ls -A "$TMPDIR" | wc -l)";`+left)
		f := strings.Fields(text(r))
		if err != nil || len(f) != 3 || f[1] != "drwx------" || f[2] != "0" {
			t.Fatalf("before %q: %q %v", left, text(r), err)
		}
		seen[f[0]]++
	}
	if len(seen) == 7 {
		t.Error("no folder was used twice")
	}
	b.box.Close()
	if left, _ := filepath.Glob(filepath.Join(b.state, "sandbox", "cache", "*", "tmp-*")); len(left) > 0 {
		t.Errorf("%v stay", left)
	}
}
