package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"adze/internal/testkit/effort"
	"adze/internal/testkit/natstest"
)

// chaos is three servers and some workers to which things happen.
type chaos struct {
	*user
	servers *natstest.Cluster
	workers []*prey
	counts  string // the folder in which calls count themselves
	clones  string
	repo    string
	lease   time.Duration
	said    string // the folder of what each adze of a task printed

	leading sync.Mutex // one server is away at a time
	mu      sync.Mutex // guards what follows
	did     map[string]int
	asleep  []asleep
}

// prey is a worker that is killed, stopped or cut off, one of them at a time.
type prey struct {
	name  string
	proxy *natstest.Proxy // nil: it cannot be cut off
	on    string
	cmd   *exec.Cmd
	busy  sync.Mutex
}

// asleep is what was stopped with a worker for longer than a lease, and when it woke.
type asleep struct {
	below map[int]string // with when each began, for numbers come again; without the worker itself, which goes on with other tasks
	woke  time.Time
}

func (c *chaos) begin(p *prey) {
	p.cmd = c.works(p.name, p.on, c.clones, "--jobs", "2", "--grace", "1s")
}

// during waits, or until all is over.
func during(over context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-over.Done():
	}
}

// below lists the processes that a process has started, and those that these have, with when each
// began (proc_pid_stat(5)).
func below(pid int) map[int]string {
	up, began := map[int]int{}, map[int]string{}
	found, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range found {
		raw, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(raw), ") ") // the name can have spaces
		if fields := strings.Fields(rest); len(fields) > 19 {
			one, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			up[one], _ = strconv.Atoi(fields[1])
			began[one] = fields[19]
		}
	}
	all := map[int]string{}
	for one := range up {
		for at := up[one]; at > 1; at = up[at] {
			if at == pid {
				all[one] = began[one]
			}
		}
	}
	return all
}

// stop has a worker and all below it stand still, as on a machine that is suspended, and wakes
// them.
func (c *chaos) stop(over context.Context, p *prey, while time.Duration) {
	all := map[int]string{}
	pid := p.cmd.Process.Pid
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	for more := true; more; { // until nobody is left who starts another one
		more = false
		for one, since := range below(pid) {
			if all[one] != since {
				all[one], more = since, syscall.Kill(one, syscall.SIGSTOP) == nil
			}
		}
	}
	began := time.Now()
	during(over, while)
	woke := time.Now()
	if woke.Sub(began) > c.lease+time.Second {
		c.mu.Lock()
		c.asleep = append(c.asleep, asleep{all, woke})
		c.mu.Unlock()
	}
	_ = syscall.Kill(pid, syscall.SIGCONT)
	for one := range all {
		_ = syscall.Kill(one, syscall.SIGCONT)
	}
}

const (
	killWorker = "worker killed"
	stopWorker = "worker stopped"
	cutWorker  = "worker cut off"
	killLeader = "leader killed"
)

// harm does one thing to a worker or to the server that leads.
func (c *chaos) harm(over context.Context, what string, p *prey, while time.Duration) {
	if what == killLeader {
		c.leading.Lock()
		defer c.leading.Unlock()
	} else if p.busy.Lock(); true {
		defer p.busy.Unlock()
	}
	if over.Err() != nil {
		return
	}
	c.mu.Lock()
	c.did[what]++
	c.mu.Unlock()
	switch what {
	case killWorker:
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		c.begin(p)
	case stopWorker:
		c.stop(over, p, while)
	case cutWorker:
		p.proxy.Cut()
		during(over, while)
		p.proxy.Mend()
	case killLeader:
		s := c.servers.Leader([]string{"ADZE_TASK", "ADZE_LOG", "KV_ADZE_RUN", "KV_ADZE_LEASE"}[rand.IntN(4)])
		s.Kill()
		during(over, 3*time.Second)
		s.Restart()
		c.servers.Ready()
	}
}

// TestTasksSurviveWhatHappensToWorkersAndServers: while workers are killed with signal 9, stopped
// with all below them for longer than a lease and cut off, and servers that lead are killed, every
// task comes to one end, no call has two effects, what had an effect is in the stream, and what
// wakes after its lease was lost starts nothing. Two submit, and a third one asks for what no owner
// of a worker admits. ADZE_TESTS=long does it with ten workers for 10 minutes, and
// with four workers and 500 tasks, with a kill each three seconds.
func TestTasksSurviveWhatHappensToWorkersAndServers(t *testing.T) {
	effort.Needs(t, effort.Short, "leases and tickets take their time")
	needs(t, "git")
	if !effort.Is(effort.Long) {
		tasksSurvive(t, 0, 0)
		return
	}
	t.Run("10 minutes", func(t *testing.T) { tasksSurvive(t, 10, 0) })
	t.Run("500 tasks", func(t *testing.T) { tasksSurvive(t, 0, 500) })
}

func tasksSurvive(t *testing.T, minutes, many int) {
	t.Helper()
	workers, tasks := 4, 12
	if many > 0 {
		tasks = many
	}
	if minutes > 0 {
		workers, tasks = 10, 80*minutes
	}
	c := &chaos{user: newUser(t).withName(), said: t.TempDir(), counts: t.TempDir(), clones: t.TempDir(), did: map[string]int{}}
	if c.lease = 15 * time.Second; minutes == 0 && many == 0 {
		c.lease = 6 * time.Second
	}
	c.env = append(c.env, alsoTo+"="+c.said, "ADZE_NATS_LEASE="+c.lease.String())
	c.servers = natstest.StartCluster(t, natstest.Options{})
	c.submitFile("t", 0, tasks/2)
	c.submitFile("s", tasks/2, tasks)
	c.file("h.jsonl", fmt.Sprintf("{\"id\":\"h0\",\"repo\":%q,\"command\":\"true\",\"flags\":[\"--allow=execute(**)\"]}\n{\"id\":\"h1\",\"folder\":%q,\"command\":\"true\",\"flags\":[\"--allow=network(*)\"]}\n", c.repo, c.home))
	for i := range workers {
		p := &prey{name: fmt.Sprint("w", i), on: c.servers.URL()}
		if i%3 == 2 {
			p.proxy = natstest.NewProxy(t, c.servers.Servers[i%len(c.servers.Servers)].Address())
			p.on = p.proxy.URL()
		}
		c.workers = append(c.workers, p)
		c.begin(p)
	}
	over, ended := context.WithCancel(t.Context())
	done := make(chan ran, 3)
	var submitters sync.WaitGroup
	for _, name := range []string{"t", "s", "h"} {
		submitters.Go(func() {
			submit := func() ran {
				return c.run("batch", name+".jsonl", "--on", c.servers.URL(), "--push", "--", "--permission-mode", "yolo", "--sandbox", "off")
			}
			r := submit()
			for again := 0; again < 5 && r.code == 10; again++ { // no server answered: the hint says to run it again
				r = submit()
			}
			if name == "h" && r.code == 8 {
				r.code = 0
			}
			done <- r
		})
	}
	go func() { defer ended(); submitters.Wait() }()
	var harms sync.WaitGroup
	if minutes > 0 {
		c.forLong(over, &harms, time.Duration(minutes)*time.Minute)
	} else if many > 0 {
		c.killing(over)
	} else {
		c.once(over, &harms)
	}
	for range 3 {
		(<-done).wants(0)
	}
	harms.Wait()
	t.Log(c.did)
	c.judge(tasks)
	c.drained()
}

const chaosCalls = 3

// killing kills a worker or the server that leads each three seconds.
func (c *chaos) killing(over context.Context) {
	for n := 0; over.Err() == nil; n++ {
		during(over, 3*time.Second)
		if n%4 == 3 {
			c.harm(over, killLeader, nil, 0)
		} else {
			c.harm(over, killWorker, c.workers[n%len(c.workers)], 0)
		}
	}
}

// submitFile writes tasks. Each call tells who made it: the process, the two above it with when
// they began, and when it did.
func (c *chaos) submitFile(name string, from, to int) {
	if c.repo == "" {
		c.repo = c.repository("r")
	}
	var lines strings.Builder
	for i := from; i < to; i++ {
		task := fmt.Sprint("t", i)
		model := c.counting(c.counts, task, chaosCalls, func(call int) string {
			return fmt.Sprintf("; of() { cut -d' ' -f$1 /proc/$2/stat || echo 0; }; a=$(of 4 $PPID); echo $$ $PPID $(of 22 $PPID) $a $(of 22 $a) $(date +%%s%%N) >>%s; sleep 0.5", filepath.Join(c.counts, fmt.Sprintf("%s-%d.who", task, call)))
		})
		fmt.Fprintf(&lines, "{\"id\":%q,\"repo\":%q,\"prompt\":\"do it\",\"flags\":[%q],\"check\":\"true\",\"branch\":\"b-%s\"}\n", task, c.repo, model, task)
	}
	c.file(name+".jsonl", lines.String())
}

// once lets each thing happen once, at the same time, as soon as there is something to harm. The
// leader goes while tasks are submitted.
func (c *chaos) once(over context.Context, harms *sync.WaitGroup) {
	harms.Go(func() { c.harm(over, killLeader, nil, 0) })
	for i, what := range []string{killWorker, stopWorker, cutWorker} {
		harms.Go(func() {
			p := c.workers[i]
			for over.Err() == nil && len(below(p.cmd.Process.Pid)) == 0 {
				during(over, 50*time.Millisecond)
			}
			during(over, 500*time.Millisecond)
			c.harm(over, what, p, c.lease+2*time.Second)
		})
	}
}

// forLong lets something happen each second or two.
func (c *chaos) forLong(over context.Context, harms *sync.WaitGroup, while time.Duration) {
	until := time.Now().Add(while)
	for over.Err() == nil && time.Now().Before(until) {
		p := c.workers[rand.IntN(len(c.workers))]
		what := []string{killWorker, killWorker, killWorker, stopWorker, cutWorker, killLeader}[rand.IntN(6)]
		if what == cutWorker && p.proxy == nil {
			continue
		}
		free := &p.busy
		if what == killLeader {
			free = &c.leading
		}
		if free.TryLock() {
			free.Unlock()
			harms.Go(func() { c.harm(over, what, p, 40*time.Second) })
		}
		during(over, time.Second+rand.N(2*time.Second))
	}
}

// chaosRun is what these tests read of adze runs list --json.
type chaosRun struct {
	Task, State, Session string
	Attempts, Calls      int
}

// judge counts ends and effects, and looks for each effect in the stream.
func (c *chaos) judge(tasks int) {
	t, on := c.t, c.servers.URL()
	results, runs := map[string][]batchResult{}, map[string][]chaosRun{}
	for _, name := range []string{"t", "s", "h"} {
		maps.Copy(results, c.batchResults(filepath.Join(c.dir, name+".batch")))
		var batch struct{ Batch string }
		if raw, err := os.ReadFile(filepath.Join(c.dir, name+".batch", "fleet.json")); err != nil || json.Unmarshal(raw, &batch) != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(c.run("runs", "list", batch.Batch, "--on", on, "--json").wants(0).out) {
			var r chaosRun
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			runs[r.Task] = append(runs[r.Task], r)
		}
	}
	for _, task := range []string{"h0", "h1"} {
		if r := results[task]; len(r) != 1 || r[0].Cause != "denied" {
			t.Errorf("the hostile %s: %+v", task, r)
		}
		delete(runs, task)
	}
	events := c.printed()
	kept, compared := c.exported(runs), 0
	if got := c.run("session", "verify", "--all", "--store", on); got.code != 0 {
		t.Errorf("the sessions are not sound: %s%s", got.out, got.err)
	}
	resumed, made, never := 0, 0, 0
	for i := range tasks {
		task := fmt.Sprint("t", i)
		r, run := results[task], runs[task]
		if len(r) != 1 || !r[0].OK || r[0].Text != "end" || len(run) != 1 || run[0].State != "finished" {
			t.Errorf("%s has the results %+v and the runs %+v", task, r, run)
			continue
		}
		resumed += min(1, r[0].Resumed)
		if r[0].Pushed != "" && inGit(t, c.repo, "rev-parse", "b-"+task) != r[0].Pushed || r[0].Pushed == "" && (r[0].Patch != "" || r[0].Resumed == 0) {
			t.Errorf("the branch of %s is not where its result says: %+v", task, r[0])
		}
		said := kept[run[0].Session]
		compared += c.acknowledged(run[0].Session, said, events[run[0].Session])
		for call := 1; call <= chaosCalls; call++ {
			count, _ := os.ReadFile(filepath.Join(c.counts, fmt.Sprintf("%s-%d.count", task, call)))
			switch n := len(count) / 2; {
			case n > 1:
				who, _ := os.ReadFile(filepath.Join(c.counts, fmt.Sprintf("%s-%d.who", task, call)))
				t.Errorf("call %d of %s had %d effects:\n%s", call, task, n, who)
			case n == 1 && !bytes.Contains(said, fmt.Appendf(nil, "%s-%d.count", task, call)):
				t.Errorf("call %d of %s had an effect and is not in the stream", call, task)
			case n == 0 && r[0].Resumed == 0:
				t.Errorf("call %d of %s was never made, and nothing had happened to it", call, task)
			case n == 0:
				never++
			default:
				made++
			}
		}
	}
	late := c.afterLoss()
	t.Logf("%d tasks, %d went on after a loss; %d calls had one effect, %d none; %d printed events are in the stream; %d sleeps longer than a lease, %d calls begun after them",
		tasks, resumed, made, never, compared, len(c.asleep), late)
	if compared == 0 {
		t.Error("no event was compared")
	}
}

// kilobytes is what the files below a folder have.
func kilobytes(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n >> 10
}

// afterLoss finds calls that were begun by something that had slept longer than its lease, after it
// woke.
func (c *chaos) afterLoss() (late int) {
	found, _ := filepath.Glob(filepath.Join(c.counts, "*.who"))
	for _, path := range found {
		raw, _ := os.ReadFile(path)
		for line := range bytes.Lines(raw) {
			var pid, up, above int
			var upBegan, aboveBegan string
			var at int64
			if _, err := fmt.Sscan(string(line), &pid, &up, &upBegan, &above, &aboveBegan, &at); err != nil {
				c.t.Errorf("%s: %q: %v", path, line, err)
			}
			if slices.ContainsFunc(c.asleep, func(s asleep) bool {
				return s.below[pid] == "" && (s.below[up] == upBegan || s.below[above] == aboveBegan) && at > s.woke.UnixNano()
			}) {
				late++
				c.t.Errorf("%s: begun after its lease was lost: %s", filepath.Base(path), line)
			}
		}
	}
	return late
}

// drained tells the workers to stop, and finds nothing left.
func (c *chaos) drained() {
	for _, p := range c.workers {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		_ = p.cmd.Wait()
	}
	c.t.Logf("left on the disk: %d KB of clones, %d KB of adze's folders", kilobytes(c.clones), kilobytes(c.home))
	for _, s := range c.servers.Servers {
		c.t.Logf("%d KB on a server", kilobytes(s.Folder()))
	}
	log, _ := os.ReadFile(filepath.Join(c.home, c.workers[0].name+".log"))
	for line := range strings.Lines(string(log)) { // what servers log is found by it
		_, err := time.Parse(time.TimeOnly, line[:min(len(line), len(time.TimeOnly))])
		if err != nil && !strings.HasPrefix(line, "worker ") && !strings.HasPrefix(line, "durability: ") {
			c.t.Errorf("a worker's log has a line without a time: %q", line)
		}
	}
	end := time.Now().Add(patience)
	for left := "?"; left != ""; {
		if left = runningBelow(c.clones); time.Now().After(end) {
			c.t.Fatalf("left running:\n%s", left)
		}
	}
	if stats := c.run("runs", "stats", "--on", c.servers.URL(), "--json").wants(0).out; strings.Contains(stats, `"taken":1`) || strings.Contains(stats, `"state":"running"`) {
		c.t.Error(stats)
	}
}
