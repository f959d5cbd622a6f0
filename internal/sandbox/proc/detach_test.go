package proc_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/sandbox/proc"
)

// detachTo makes this binary start another of it in the background, which writes into the file that
// it names; that one is told by detached to wait until it is killed.
const (
	detachTo = "PROC_TEST_DETACH"
	detached = "detached"
	// detachWaits has it wait for the end of its input before.
	detachWaits = "PROC_TEST_DETACH_WAITS"
)

func detach(log string) int {
	if log == detached {
		fmt.Println("began")
		never, _, err := os.Pipe()
		if err == nil {
			_, _ = never.Read(make([]byte, 1)) // nobody writes
		}
		return 1
	}
	if os.Getenv(detachWaits) != "" {
		_, _ = os.Stdin.Read(make([]byte, 1))
	}
	pid, _, err := proc.Detach([]string{os.Args[0]}, append(os.Environ(), detachTo+"="+detached), filepath.Dir(log), log)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(pid)
	return 0
}

// detacher is a program that starts another in the background, and ends.
func detacher(t *testing.T) (c *exec.Cmd, log string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "detach") // an ended process may hold it for a moment
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log = filepath.Join(dir, "log")
	c = exec.Command(self)
	c.Env = append(os.Environ(), detachTo+"="+log)
	return c, log
}

// works makes sure that a process in the background works, by what the program that started it
// said, and ends it.
func works(t *testing.T, said, log string) {
	t.Helper()
	var pid int
	if _, err := fmt.Sscan(said, &pid); err != nil {
		t.Fatalf("it was not started: %s", said)
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatalf("it ended with the process that started it: %v", err)
	}
	await(t, "a word of it", func() bool {
		raw, _ := os.ReadFile(log)
		return strings.HasPrefix(string(raw), "began")
	})
	if !alive(pid) {
		t.Error("it ended with the process that started it")
	}
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
}

func TestADetachedProcessOutlivesItsStarter(t *testing.T) {
	c, log := detacher(t)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatal(err, string(out))
	}
	works(t, string(out), log)
}
