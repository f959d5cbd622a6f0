//go:build unix

package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"adze/internal/osfile/filelock"
	"adze/internal/testkit/mcptest"
)

// binaries is the folder of the programs, one for each checkout.
var binaries string

// build makes the programs where a source changed since they were made: the go command looks.
var build = sync.OnceValue(func() error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	binaries = filepath.Join(cache, "adze-bench", fmt.Sprintf("%x", sha256.Sum256([]byte(here)))[:16])
	if err := os.MkdirAll(binaries, 0o700); err != nil {
		return err
	}
	unlock, err := filelock.Wait(context.Background(), filepath.Join(binaries, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	const floor = "adze/internal/tools/bench/floor"
	for name, pkg := range map[string][]string{"adze": {"adze"}, "floor": {floor}, "least": {"-tags=least", floor}} {
		args := append([]string{"build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(binaries, name)}, pkg...)
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	return nil
})

func TestMain(m *testing.M) {
	asAdze()
	mcptest.Serve()
	os.Exit(m.Run())
}

// cost is what one process took.
type cost struct {
	wall, cpu time.Duration
	peak      int64 // bytes, of the largest process among it, its children and this one
	faults    int64 // pages that were touched for the first time, or mapped
}

// runner starts one of the binaries in a folder with a home of its own.
type runner struct {
	t         testing.TB
	dir, home string
	server    *instant
}

func newRunner(t testing.TB, server *instant) runner {
	t.Helper()
	return runner{t: t, dir: t.TempDir(), home: t.TempDir(), server: server}
}

func (r runner) command(name string, args ...string) *exec.Cmd {
	r.t.Helper()
	if err := build(); err != nil {
		r.t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(binaries, name), args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "ADZE_HOME="+r.home, "OPENAI_API_KEY=key", "OPENAI_BASE_URL="+r.server.URL+"/v1")
	return cmd
}

func (r runner) floor(prompt string) *exec.Cmd {
	return r.command("floor", r.server.URL+"/v1", "m", prompt)
}

func (r runner) adze(prompt string) *exec.Cmd {
	return r.command("adze", "--print", "--permission-mode", "yolo", "--model", "openai/m", prompt)
}

func (r runner) least(prompt string) *exec.Cmd {
	return r.command("least", r.server.URL+"/v1", "m", prompt)
}

// measure runs a command that must succeed.
func (r runner) measure(cmd *exec.Cmd) cost {
	r.t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	err := cmd.Run()
	c := cost{wall: time.Since(start)}
	if err != nil || !strings.Contains(out.String(), "done") {
		r.t.Fatalf("%s: %v\n%s\n%s", cmd, err, out.String(), errs.String())
	}
	c.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.peak, c.faults = int64(u.Maxrss)<<10, int64(u.Minflt)
	}
	return c
}

// pairs collects ratios of adze to floor.
type pairs struct{ wall, cpu, faults, adzeWall, adzeCPU, peak []float64 }

func (p *pairs) add(adze, floor cost) {
	p.wall = append(p.wall, float64(adze.wall)/float64(floor.wall))
	p.cpu = append(p.cpu, float64(adze.cpu)/float64(floor.cpu))
	p.faults = append(p.faults, float64(adze.faults)/float64(max(floor.faults, 1)))
	p.adzeWall = append(p.adzeWall, float64(adze.wall))
	p.adzeCPU = append(p.adzeCPU, float64(adze.cpu))
	p.peak = append(p.peak, float64(adze.peak))
}

func (p *pairs) report(b *testing.B, turns int) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(p.wall), "wall/floor")
	b.ReportMetric(median(p.cpu), "cpu/floor")
	b.ReportMetric(median(p.faults), "faults/floor")
	b.ReportMetric(median(p.peak)/(1<<20), "peak-MB")
	per := 1e6 * float64(max(turns, 1))
	b.ReportMetric(median(p.adzeWall)/per, "wall-ms/turn")
	b.ReportMetric(median(p.adzeCPU)/per, "cpu-ms/turn")
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// BenchmarkOnePrompt is one prompt and one text reply, the whole process. Bar: 2 × floor.
func BenchmarkOnePrompt(b *testing.B) { onePrompt(b, runner.adze) }

// BenchmarkTheLeastPrompt is floor with all of adze's packages linked, the store opened and four
// events committed: what is left of OnePrompt above it is what adze itself could still save. So
// with the other two.
func BenchmarkTheLeastPrompt(b *testing.B) { onePrompt(b, runner.least) }

func onePrompt(b *testing.B, subject func(runner, string) *exec.Cmd) {
	r := newRunner(b, newInstant(b))
	r.measure(r.floor("hello"))
	r.measure(subject(r, "hello"))
	r.server.requests.Store(0)
	var p pairs
	for b.Loop() {
		p.add(r.measure(subject(r, "hello")), r.measure(r.floor("hello")))
	}
	if got, want := r.server.requests.Load(), int64(2*len(p.wall)); got != want {
		b.Fatalf("%d requests for %d prompts", got, want)
	}
	p.report(b, 1)
}

// toolPlan cycles through read, grep, edit and a command that does nothing.
func toolPlan(turns int) []string {
	plan := make([]string, turns)
	for i := range plan {
		switch i % 4 {
		case 0:
			plan[i] = `{"name":"read","arguments":"{\"path\":\"a.txt\"}"}`
		case 1:
			plan[i] = `{"name":"grep","arguments":"{\"pattern\":\"line 77\"}"}`
		case 2:
			plan[i] = fmt.Sprintf(`{"name":"edit","arguments":"{\"path\":\"a.txt\",\"old_string\":\"mark %d.\",\"new_string\":\"mark %d.\"}"}`, i/4, i/4+1)
		case 3:
			plan[i] = `{"name":"bash","arguments":"{\"command\":\"true\"}"}`
		}
	}
	return plan
}

// BenchmarkToolTurns is 100 tool turns in one session. Bars: 3.5 ms wall and 3 ms CPU a turn.
func BenchmarkToolTurns(b *testing.B) { toolTurns(b, 100, runner.adze) }

// BenchmarkTheLeastTurns is the same by floor with two commits a turn.
func BenchmarkTheLeastTurns(b *testing.B) { toolTurns(b, 100, runner.least) }

// BenchmarkManyTurns is 400 of them. Bar: 50 MB.
func BenchmarkManyTurns(b *testing.B) { toolTurns(b, 400, runner.adze) }

func toolTurns(b *testing.B, turns int, subject func(runner, string) *exec.Cmd) {
	r := newRunner(b, newInstant(b, toolPlan(turns)...))
	prepare := func() {
		var text strings.Builder
		for i := range 200 {
			fmt.Fprintf(&text, "line %d\n", i)
		}
		text.WriteString("mark 0.\n")
		if err := os.WriteFile(filepath.Join(r.dir, "a.txt"), []byte(text.String()), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	var p pairs
	for b.Loop() {
		prepare()
		floor := r.measure(r.floor("work"))
		prepare()
		before := r.server.connections.Load()
		r.server.firstBody.Store(0) // that of floor does not count
		p.add(r.measure(subject(r, "work")), floor)
		// One is kept for all requests; at a start up to two more ask which server this is.
		if opened := r.server.connections.Load() - before; opened > 3 {
			b.Fatalf("%d connections were opened, want one that is kept and two of the start", opened)
		}
	}
	b.ReportMetric(float64(r.server.firstBody.Load()), "first-request-bytes")
	p.report(b, turns)
}

// BenchmarkParallelReads is one message with eight reads, and the answer. Bar: 2 × floor.
func BenchmarkParallelReads(b *testing.B) { parallelReads(b, runner.adze) }

// BenchmarkTheLeastReads is the same by floor with four commits.
func BenchmarkTheLeastReads(b *testing.B) { parallelReads(b, runner.least) }

func parallelReads(b *testing.B, subject func(runner, string) *exec.Cmd) {
	calls := make([]string, 8)
	for i := range calls {
		calls[i] = fmt.Sprintf(`{"name":"read","arguments":"{\"path\":\"a%d.txt\"}"}`, i)
	}
	r := newRunner(b, newInstant(b, strings.Join(calls, "\n")))
	for i := range calls {
		if err := os.WriteFile(filepath.Join(r.dir, fmt.Sprintf("a%d.txt", i)), bytes.Repeat([]byte("a line\n"), 200), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	var p pairs
	for b.Loop() {
		floor := r.measure(r.floor("read them"))
		p.add(r.measure(subject(r, "read them")), floor)
	}
	p.report(b, 1)
}

// BenchmarkDeltas is one reply of 20,000 deltas. Bars: 2 × floor's CPU, 40 MB, and 15 ms from the
// end of the reply, which comes after a pause, to that of the process.
func BenchmarkDeltas(b *testing.B) {
	server := newInstant(b)
	var ended atomic.Int64
	server.reply = func(w io.Writer) {
		for range 20_000 {
			io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n")
		}
		w.(http.Flusher).Flush()
		time.Sleep(250 * time.Millisecond) // all of it was read before the end comes
		ended.Store(time.Now().UnixNano())
		sse(w, `{"content":"done"}`, "stop")
	}
	r := newRunner(b, server)
	var p pairs
	var tail []float64
	for b.Loop() {
		adze := r.measure(r.adze("talk"))
		tail = append(tail, float64(time.Now().UnixNano()-ended.Load())/1e6)
		p.add(adze, r.measure(r.floor("talk")))
	}
	p.report(b, 1)
	b.ReportMetric(median(tail), "end-to-exit-ms")
}

// BenchmarkFlood is one command that prints 50 MB. Bars: 0.12 s, 40 MB.
func BenchmarkFlood(b *testing.B) {
	r := newRunner(b, newInstant(b, `{"name":"bash","arguments":"{\"command\":\"yes 'a line of output as compilers and test runners print them' | head -c 50000000\"}"}`))
	var p pairs
	for b.Loop() {
		p.add(r.measure(r.adze("flood")), r.measure(r.floor("flood")))
	}
	p.report(b, 1)
}
