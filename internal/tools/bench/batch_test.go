//go:build unix

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/internal/testkit/effort"
)

// jobs is how many tasks of a batch are done at the same time.
const jobs = 8

// BenchmarkBatch is a file of prompts over 20 repositories, 8 at a time, with a server that answers
// at once, beside the same clones alone and beside clones and adze --print as a shell loop would
// have them. Bars: 100 ms a task over the clones, 30 MB a task that runs. ADZE_TESTS=long
// makes it long.
func BenchmarkBatch(b *testing.B) {
	tasks := effort.Rounds(60, 60, 1000)
	r := newRunner(b, newInstant(b))
	repos := make([]string, 20)
	for i := range repos {
		repos[i] = filepath.Join(b.TempDir(), "r")
		script := `git init -q -b main . && for i in 1 2 3 4 5 6 7 8 9 10; do mkdir d$i && for j in 1 2 3 4 5 6 7 8 9 10; do echo "$i $j $0" >d$i/f$j; done; done && git add -A && git -c user.name=a -c user.email=a@b commit -q -m one`
		must(b, os.Mkdir(repos[i], 0o755))
		r.shell(repos[i], script, strconv.Itoa(i))
	}
	for n := 0; b.Loop(); n++ {
		clones := r.each(tasks, func(i int) *exec.Cmd { return r.clone(repos[i%20], fmt.Sprintf("c%d-%d", n, i)) })
		loop := r.each(tasks, func(i int) *exec.Cmd {
			dir := fmt.Sprintf("l%d-%d", n, i)
			if out, err := r.clone(repos[i%20], dir).CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
			cmd := r.adze("hello")
			cmd.Dir = filepath.Join(r.dir, dir)
			return cmd
		})
		var lines strings.Builder
		for i := range tasks {
			fmt.Fprintf(&lines, "{\"id\":\"t%d\",\"repo\":%q,\"prompt\":\"hello\"}\n", i, repos[i%20])
		}
		name := filepath.Join(r.dir, fmt.Sprintf("b%d.jsonl", n))
		must(b, os.WriteFile(name, []byte(lines.String()), 0o600))
		cmd := r.command("adze", "batch", name, "--jobs", strconv.Itoa(jobs), "--", "--model", "openai/m")
		began := time.Now()
		peak := r.watched(cmd)
		batch := time.Since(began)
		each := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 / float64(tasks) }
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(each(batch), "ms/task")
		b.ReportMetric(each(batch-clones), "ms/task-over-clones")
		b.ReportMetric(each(batch-loop), "ms/task-over-a-loop")
		b.ReportMetric(peak/jobs/(1<<20), "MB/running-task")
	}
}

func must(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (r runner) shell(dir, script string, args ...string) {
	r.t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", script}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("%v\n%s", err, out)
	}
}

func (r runner) clone(repo, dir string) *exec.Cmd {
	cmd := exec.Command("git", "clone", "-q", "--no-hardlinks", repo, dir)
	cmd.Dir = r.dir
	return cmd
}

// each runs so many commands, jobs of them at a time.
func (r runner) each(n int, command func(i int) *exec.Cmd) time.Duration {
	r.t.Helper()
	began := time.Now()
	var all sync.WaitGroup
	for j := range jobs {
		all.Go(func() {
			for i := j; i < n; i += jobs {
				if out, err := command(i).CombinedOutput(); err != nil {
					r.t.Errorf("%v\n%s", err, out)
				}
			}
		})
	}
	all.Wait()
	return time.Since(began)
}

// watched runs a command that must succeed and returns the most memory that it and all below it
// held at once, in bytes: pages that several share count once.
func (r runner) watched(cmd *exec.Cmd) (peak float64) {
	r.t.Helper()
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				r.t.Fatalf("%v\n%s", err, said.String())
			}
			return peak
		case <-tick.C:
			peak = max(peak, heldBelow(cmd.Process.Pid))
		}
	}
}

// heldBelow is the proportional memory of a process and all below it; 0 where the system does not
// tell.
func heldBelow(pid int) (sum float64) {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			kb, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			sum += kb * 1024
		}
	}
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, t := range threads {
		children, _ := os.ReadFile(t)
		for _, c := range strings.Fields(string(children)) {
			n, _ := strconv.Atoi(c)
			sum += heldBelow(n)
		}
	}
	return sum
}
