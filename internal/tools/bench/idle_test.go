//go:build unix

package bench

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/testkit/natstest"
)

// idle is a program with nothing to do.
type idle struct {
	name string
	pid  int
}

// TestCountsOfWakeUps counts how often the threads of a program that has nothing to do are woken in
// ten seconds, in each state in which a user leaves one. How busy the machine is adds none: a thread
// that waits is woken by an event or by a timer of its own.
//
//	ADZE_TESTS=short go test -v -run TestCountsOfWakeUps ./internal/tools/bench
func TestCountsOfWakeUps(t *testing.T) {
	r := newRatchet(t)
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("there is no /proc")
	}
	var all []idle
	add := func(name string, cmd *exec.Cmd) { all = append(all, idle{name, cmd.Process.Pid}) }
	on := ground(t, newInstant(t))

	s, _ := showWhen(t, on, "All done.", "--model", "openai/m", "--permission-mode", "ask", "hello")
	t.Cleanup(s.kill)
	add("interface", s.cmd)
	go s.drain()

	follow := on.starts("session", "follow", on.session())
	follow.says("All done.")
	add("session follow", follow.cmd)

	along, _ := showWhen(t, on, "has this session", "--permission-mode", "ask", "--resume", on.session())
	t.Cleanup(along.kill)
	add("reading along", along.cmd)
	go along.drain()

	serve := on.starts("serve", "--model", "openai/m")
	serve.says("http://")
	add("serve", serve.cmd)

	acp := on.starts("acp", "--model", "openai/m")
	acp.writes(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`)
	acp.says(`"id":1`)
	acp.writes(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":` + quoted(on.dir) + `,"mcpServers":[]}}`)
	acp.says(`"id":2`)
	add("acp", acp.cmd)

	lines := on.starts("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--model", "openai/m")
	lines.says(`"type":"init"`)
	add("a program's lines", lines.cmd)

	server := on.starts("mcp", "serve", "--model", "openai/m")
	server.writes(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	server.says(`"id":1`)
	server.writes(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	add("mcp serve", server.cmd)

	t.Run("with a worker", func(t *testing.T) {
		nats := natstest.Start(t, natstest.Options{}).URL() // skips where there is none
		on := on
		on.t = t
		worker := on.starts("batch", "worker", "--on", nats, "--dir", t.TempDir(), "--allow-folder", "/", "--sandbox-level", "none")
		for { // until it is there
			out, err := on.command("adze", "batch", "workers", "--on", nats).Output()
			if err != nil {
				t.Fatal(err)
			}
			if len(out) > 0 {
				break
			}
		}
		// A worker tells that it is there, and asks whether its server is: some messages in ten seconds,
		// each of which wakes several threads. Their number is no count; more than this is a poller.
		const most = 300
		if n := settled(t, []idle{{"worker", worker.cmd.Process.Pid}})(); n[0] > most {
			t.Errorf("a worker without a task was woken %d times in 10 s, want at most %d", n[0], most)
		} else {
			t.Logf("a worker without a task was woken %d times in 10 s", n[0])
		}
	})
	wakeUps := settled(t, all)
	r.least(func() map[string]int64 {
		named := map[string]int64{}
		for i, n := range wakeUps() {
			named["idle, 10 s of "+all[i].name+": wake-ups"] = n
		}
		return named
	})
	if kB := status(t, s.cmd.Process.Pid, "VmRSS"); kB > mostIdle {
		t.Errorf("the interface holds %d kB where nobody has asked anything for a while, want at most %d", kB, mostIdle)
	}
}

// mostIdle is how much memory an interface may hold that waits for its user, in kB.
const mostIdle = 20 << 10

// settled waits until nothing is left of the start, and returns what counts wake-ups over ten
// seconds.
func settled(t *testing.T, all []idle) (wakeUps func() []int64) {
	t.Helper()
	over := func(period time.Duration) []int64 {
		counts := make([]int64, len(all))
		for i, p := range all {
			counts[i] = -status(t, p.pid, "voluntary_ctxt_switches")
		}
		time.Sleep(period) // what is counted is what happens meanwhile
		for i, p := range all {
			counts[i] += status(t, p.pid, "voluntary_ctxt_switches")
		}
		return counts
	}
	for range 10 { // what a start leaves behind ends by itself
		if !slices.ContainsFunc(over(time.Second), func(n int64) bool { return n > 0 }) {
			break
		}
	}
	return func() []int64 { return over(10 * time.Second) }
}

func quoted(s string) string { return `"` + s + `"` } // a folder of ground has no letter to escape

// session is the one that the store of this ground holds.
func (r runner) session() string {
	r.t.Helper()
	out, err := r.command("adze", "session", "list").Output()
	if err != nil {
		r.t.Fatal(err)
	}
	id, _, _ := strings.Cut(string(out), " ")
	return id
}

// running is a program that reads and writes lines.
type running struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Reader
}

// starts starts the program, which is killed at the end of the test.
func (r runner) starts(args ...string) *running {
	r.t.Helper()
	cmd := r.bare(r.command("adze", args...))
	in, err := cmd.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = in.Close()
		_ = cmd.Wait() // how it ends is not looked at
	})
	return &running{r.t, cmd, in, bufio.NewReader(out)}
}

func (p *running) writes(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// says reads up to a line with text.
func (p *running) says(text string) {
	p.t.Helper()
	for {
		line, err := p.out.ReadString('\n')
		if strings.Contains(line, text) {
			return
		}
		if err != nil {
			p.t.Fatalf("%s ended before it said %q: %v", p.cmd, text, err)
		}
	}
}

// drain reads on, so that the program never waits for its terminal.
func (s *shown) drain() { _, _ = io.Copy(io.Discard, s.tty) }

func (s *shown) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.tty.Close()
}
