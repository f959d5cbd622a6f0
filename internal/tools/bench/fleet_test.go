//go:build unix

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/testkit/natstest"
)

// BenchmarkOneTask is a task with one call that takes 0 or 2 s, one after the other, in four ways
// in turn: adze --print alone, the same in a clone of its own with a patch as a shell has it, adze
// batch on this machine, and adze batch by a worker and a server that syncs each write. Bars: a
// batch at most 1.1 times the way by hand, a worker at most 1.2 times and 40 ms more than the
// batch, from 2 s on.
func BenchmarkOneTask(b *testing.B) {
	for _, seconds := range []int{0, 2} {
		b.Run(fmt.Sprint(seconds, "s"), func(b *testing.B) {
			const tasks = 4
			r := newRunner(b, newInstant(b))
			repo, script := filepath.Join(r.dir, "repo"), filepath.Join(r.dir, "m.txtar")
			must(b, os.Mkdir(repo, 0o755))
			r.shell(repo, `git init -q -b main . && for i in 1 2 3 4 5 6 7 8 9 10; do echo "$i" >f$i; done && git add -A && git -c user.name=a -c user.email=a@b commit -q -m one`)
			must(b, os.WriteFile(script, fmt.Appendf(nil, "# a task\n-- 1 --\ncall bash: {\"command\":\"sleep %d; echo x >x.txt\"}\n-- 2 --\ntext: end\n", seconds), 0o600))
			model := "--model=script/" + script
			print := func(dir string) *exec.Cmd {
				cmd := r.command("adze", "--print", "--output-format", "stream-json", "--permission-mode", "auto", model, "do it")
				cmd.Dir = dir
				return cmd
			}
			on := natstest.Start(b, natstest.Options{}).URL()
			worker := r.command("adze", "worker", "--on", on, "--jobs", "1", "--dir", b.TempDir(), "--allow-folder", "/", "--sandbox-level", "none")
			must(b, worker.Start())
			b.Cleanup(func() { _ = worker.Process.Signal(syscall.SIGTERM); _ = worker.Wait() })
			for { // until the worker is there
				out, err := r.command("adze", "runs", "workers", "--on", on).Output()
				must(b, err)
				if len(out) > 0 {
					break
				}
			}
			run := func(cmd *exec.Cmd) {
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v: %v\n%s", cmd.Args, err, out)
				}
			}
			n := 0
			ways := []struct {
				name string
				do   func()
			}{
				{"print", func() {
					for range tasks {
						run(print(repo))
						must(b, os.Remove(filepath.Join(repo, "x.txt")))
					}
				}},
				{"hand", func() {
					for range tasks {
						n++
						dir := filepath.Join(r.dir, fmt.Sprint("h", n))
						run(r.clone(repo, dir))
						run(print(dir))
						r.shell(dir, `git add -A && git diff --cached --binary HEAD >"$0"`, dir+".patch")
					}
				}},
				{"batch", func() { run(r.oneByOne(repo, model, tasks, &n, "--jobs", "1")) }},
				{"worker", func() { run(r.oneByOne(repo, model, tasks, &n, "--on", on)) }},
			}
			for _, w := range ways { // the first time makes what stays
				w.do()
			}
			took, rounds := map[string]time.Duration{}, 0
			for b.Loop() {
				for _, w := range ways {
					began := time.Now()
					w.do()
					took[w.name] += time.Since(began)
				}
				rounds++
			}
			b.ReportMetric(0, "ns/op")
			for _, w := range ways {
				b.ReportMetric(float64(took[w.name].Milliseconds())/float64(tasks*rounds), "ms/"+w.name)
			}
			b.ReportMetric(float64(took["batch"])/float64(took["hand"]), "batch/hand")
			b.ReportMetric(float64(took["worker"])/float64(took["batch"]), "worker/batch")
		})
	}
}

// oneByOne is a batch of so many tasks.
func (r runner) oneByOne(repo, model string, tasks int, n *int, flags ...string) *exec.Cmd {
	r.t.Helper()
	var lines strings.Builder
	for i := range tasks {
		fmt.Fprintf(&lines, "{\"id\":\"t%d\",\"repo\":%q,\"prompt\":\"do it\",\"flags\":[%q]}\n", i, repo, model)
	}
	*n++
	name := filepath.Join(r.dir, "o"+strconv.Itoa(*n)+".jsonl")
	if err := os.WriteFile(name, []byte(lines.String()), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return r.command("adze", append([]string{"batch", name}, flags...)...)
}
