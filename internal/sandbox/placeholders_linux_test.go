package sandbox_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
)

func itoa(n int) string { return strconv.Itoa(n) }

// dots lists the hidden names of the workspace.
func (b *bench) dots() []string {
	b.t.Helper()
	entries, err := os.ReadDir(b.work)
	if err != nil {
		b.t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			out = append(out, e.Name())
		}
	}
	return out
}

// sleeper is a command that is running when start returns.
func (b *bench) sleeper(s *sandbox.Sandbox) (end func()) {
	b.t.Helper()
	p, err := proc.Supervisor{Cage: s}.Start(context.Background(), proc.Command{Argv: []string{"sleep", "1000"}, Dir: b.work, Env: b.env()})
	if err != nil {
		b.t.Fatal(err)
	}
	return func() { p.End(proc.Aborted); p.Wait() }
}

func TestPlaceholdersGoWithTheLastCommand(t *testing.T) {
	b := newBench(t, sandbox.Namespaces)
	b.write("work/.envrc", "export A=1\n")
	if err := os.Mkdir(filepath.Join(b.work, ".idea"), 0o755); err != nil {
		t.Fatal(err)
	}
	second := b.sandbox(sandbox.Namespaces) // as of another process: nothing is shared but the state folder
	end1, end2 := b.sleeper(b.box), b.sleeper(second)
	if len(b.dots()) < 8 {
		t.Errorf("while commands run there are only %v", b.dots())
	}
	end1()
	b.box.Close()
	if r, err := b.try(t.Context(), second, "mkdir -p .vscode && echo x > .vscode/tasks.json"); err != nil || r.Err() == nil {
		t.Errorf("the end of another command took the protection of .vscode away: %v", err)
	}
	end2()
	second.Close()
	if got := strings.Join(b.dots(), " "); got != ".envrc .idea" {
		t.Errorf("left in the workspace: %s", got)
	}
}

func TestPlaceholdersOfAKilledProcessAreRemoved(t *testing.T) {
	b := newBench(t, sandbox.Namespaces)
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{"SANDBOX_TEST_HOLD=" + b.work, "SANDBOX_TEST_HOME=" + b.home, "SANDBOX_TEST_STATE=" + b.state, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = out.Read(make([]byte, 1)) // it runs
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if len(b.dots()) < 8 {
		t.Fatalf("the test needs something to be left, and there is only %v", b.dots())
	}
	if told, err := b.box.Recover(); err != nil || len(told) > 0 {
		t.Errorf("%v %q", err, told)
	}
	if got := b.dots(); len(got) != 0 {
		t.Errorf("left in the workspace: %v", got)
	}
	b.run("true")
	b.box.Close()
	if got := b.dots(); len(got) != 0 {
		t.Errorf("left in the workspace by a command: %v", got)
	}
}

// TestMain makes this binary a stand-in for an adze that is killed.
func TestMain(m *testing.M) {
	if work := os.Getenv("SANDBOX_TEST_HOLD"); work != "" {
		s := sandbox.New(sandbox.Options{Workspace: work, Home: os.Getenv("SANDBOX_TEST_HOME"), State: os.Getenv("SANDBOX_TEST_STATE"), Techniques: []sandbox.Technique{sandbox.Namespaces}})
		if _, err := (proc.Supervisor{Cage: s}).Start(context.Background(), proc.Command{Argv: []string{"sleep", "1000"}, Dir: work, Env: os.Environ()}); err != nil {
			panic(err)
		}
		os.Stdout.WriteString("r")
		select {}
	}
	os.Exit(m.Run())
}
