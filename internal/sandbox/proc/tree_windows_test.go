package proc_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"adze/internal/sandbox/proc"
)

// TestHelper is no test: it is the command that the tests here run, this very program. Its first
// word says what it does.
func TestHelper(t *testing.T) {
	words := strings.Fields(os.Getenv("TREE_HELPER"))
	if len(words) == 0 {
		t.Skip("it is a helper of other tests")
	}
	switch words[0] {
	case "sleep":
		fmt.Println("pid", os.Getpid())
		never, _, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = never.Read(make([]byte, 1)) // nobody writes
	case "tree": // a child, which has one of its own
		depth, _ := strconv.Atoi(words[1])
		fmt.Println("pid", os.Getpid())
		c := exec.Command(os.Args[0], "-test.run=^TestHelper$")
		c.Env = append(os.Environ(), "TREE_HELPER=tree "+strconv.Itoa(depth-1))
		if depth == 1 {
			c.Env = append(os.Environ(), "TREE_HELPER=sleep")
		}
		c.Stdout = os.Stdout
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if words[len(words)-1] == "leave" {
			os.Exit(7)
		}
		_ = c.Wait()
	case "orphan": // a child without a mark, whose parent is gone
		fmt.Println("pid", os.Getpid())
		c := exec.Command(os.Args[0], "-test.run=^TestHelper$")
		c.Env = []string{"SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "TREE_HELPER=sleep"}
		c.Stdout = os.Stdout
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		os.Exit(0)
	case "supervise": // an adze of which a command has a tree below it
		p, err := proc.Supervisor{}.Start(context.Background(), command("tree 1"))
		if err != nil {
			t.Fatal(err)
		}
		for len(pids(p.Output().Text().Head)) < 2 {
			time.Sleep(time.Millisecond) // it writes when it is there
		}
		fmt.Print(p.Output().Text().Head)
		_, _ = os.Stdin.Read(make([]byte, 1))
	case "copy":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "eat":
		var all [][]byte
		for range mostMiB {
			b := make([]byte, 1<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			all = append(all, b)
		}
		fmt.Println(len(all), "MiB")
	}
	os.Exit(0)
}

// mostMiB is what a helper eats at most.
const mostMiB = 256

func command(what string) proc.Command {
	dir, _ := os.Getwd()
	return proc.Command{Argv: []string{os.Args[0], "-test.run=^TestHelper$"}, Dir: dir, Env: append(os.Environ(), "TREE_HELPER="+what)}
}

func pids(text string) (out []int) {
	for line := range strings.Lines(text) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "pid "); ok {
			pid, _ := strconv.Atoi(n)
			out = append(out, pid)
		}
	}
	return out
}

// gone waits until none of some processes is there.
func gone(t *testing.T, all []int) {
	t.Helper()
	for _, pid := range all {
		for deadline := time.Now().Add(10 * time.Second); alive(pid); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d is still there", pid)
			}
		}
	}
}

func TestATreeEndsWithItsCommand(t *testing.T) {
	for name, end := range map[string]func(*proc.Process, context.CancelFunc){
		"abort": func(_ *proc.Process, cancel context.CancelFunc) { cancel() },
		"end":   func(p *proc.Process, _ context.CancelFunc) { p.End(proc.Timeout) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p, err := proc.Supervisor{}.Start(ctx, command("tree 2"))
			if err != nil {
				t.Fatal(err)
			}
			for len(pids(p.Output().Text().Head)) < 3 {
				select {
				case <-p.Done():
					t.Fatalf("it ended early: %+v", p.Wait())
				case <-time.After(time.Millisecond):
				}
			}
			all := pids(p.Output().Text().Head)
			end(p, cancel)
			r := p.Wait()
			if r.Killed == proc.ByItself || r.Survivors != 0 || r.Code != -1 {
				t.Errorf("%+v", r)
			}
			gone(t, all)
		})
	}
}

func TestWhatACommandLeavesEndsWithIt(t *testing.T) {
	r, err := proc.Supervisor{}.Run(t.Context(), command("tree 1 leave"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Code != 7 || r.Killed != proc.ByItself || r.Survivors != 0 {
		t.Errorf("%+v", r)
	}
	gone(t, pids(r.Output.Head))
}

// TestATreeEndsWithAdze kills a process whose command has a child.
func TestATreeEndsWithAdze(t *testing.T) {
	c := exec.Command(os.Args[0], "-test.run=^TestHelper$")
	c.Env = append(os.Environ(), "TREE_HELPER=supervise")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	buf := make([]byte, 512)
	for len(pids(said.String())) < 2 || !strings.HasSuffix(said.String(), "\n") {
		n, err := out.Read(buf)
		if said.Write(buf[:n]); err != nil {
			t.Fatalf("%v after %q", err, said.String())
		}
	}
	all := pids(said.String())
	for _, pid := range all {
		if !alive(pid) {
			t.Fatalf("process %d is not there", pid)
		}
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	gone(t, all)
}

func TestACommandThatTakesTooMuchMemoryIsEnded(t *testing.T) {
	c := command("eat")
	c.Memory = 64 << 20
	r, err := proc.Supervisor{}.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Err() == nil && strings.Contains(r.Output.Head, strconv.Itoa(mostMiB)+" MiB") {
		t.Skip("this system does not bound the memory of a job, as Wine does not")
	}
	if r.Err() == nil {
		t.Errorf("%+v", r)
	}
}

func TestStreams(t *testing.T) {
	cmd := filepath.Join(os.Getenv("SYSTEMROOT"), "system32", "cmd.exe")
	run := func(c proc.Command) proc.Result {
		t.Helper()
		c.Dir, c.Env = t.TempDir(), append(os.Environ(), "Path=first", "PATH="+os.Getenv("PATH"))
		r, err := proc.Supervisor{}.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := run(proc.Command{Argv: []string{cmd, "/c", `echo out& echo "a b" 1>&2& exit 3`}, Separate: true})
	if r.Code != 3 || strings.TrimSpace(r.Output.Head) != "out" || strings.TrimSpace(r.Errors.Head) != `"a b"` {
		t.Errorf("%+v", r)
	}
	c := command("copy")
	c.Input = []byte("one\r\ntwo\r\n")
	if r, err := (proc.Supervisor{}).Run(t.Context(), c); err != nil || r.Output.Head != string(c.Input) {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := (proc.Supervisor{}).Run(t.Context(), command("copy")); err != nil || r.Output.Head != "" {
		t.Errorf("without input: %+v, %v", r, err)
	}
	_, err := proc.Supervisor{}.Run(t.Context(), proc.Command{Argv: []string{"no-such-program"}, Dir: t.TempDir(), Env: os.Environ()})
	if err == nil || !strings.Contains(err.Error(), "not in PATH") {
		t.Errorf("%v", err)
	}
}

func TestABatchFileGetsNoCommandAsAnArgument(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tool.cmd"), []byte("@echo got %1\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "PATH="+dir+";"+os.Getenv("PATH"))
	_, err := proc.Supervisor{}.Run(t.Context(), proc.Command{Argv: []string{"tool", `x"&echo injected`}, Dir: dir, Env: env})
	if err == nil || !strings.Contains(err.Error(), "batch file") {
		t.Errorf("%v", err)
	}
	r, err := proc.Supervisor{}.Run(t.Context(), proc.Command{Argv: []string{"tool", "plain"}, Dir: dir, Env: env})
	if err != nil || !strings.Contains(r.Output.Head, "got plain") {
		t.Errorf("%+v, %v", r, err)
	}
}
