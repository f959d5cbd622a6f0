package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/fleet/batch"
	"adze/internal/testkit/natstest"
)

// The test binary is started again as an adze, which runs a task's command or prompt by sh, and as
// a worker.
const (
	asAdze   = "FLEET_TEST_ADZE"
	asWorker = "FLEET_TEST_WORKER"
	ackWait  = time.Second // the least
	patience = 2 * time.Minute
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asAdze) != "":
		os.Exit(adze(os.Args[1:]))
	case os.Getenv(asWorker) != "":
		serve(os.Getenv(asWorker))
	}
	os.Exit(m.Run())
}

// adze does what a task's adze does, as far as workers see it.
func adze(args []string) int {
	in, _ := io.ReadAll(os.Stdin)
	command := string(in)
	var shell struct{ Command string }
	if args[0] == "tools" && json.Unmarshal(in, &shell) == nil {
		command = shell.Command
	}
	fmt.Println(`{"type":"tool_start","name":"bash","title":"sh"}`)
	c := exec.Command("sh", "-c", command)
	c.Stderr = os.Stderr
	out, err := c.Output()
	code := c.ProcessState.ExitCode()
	if args[0] == "tools" {
		raw, _ := json.Marshal(map[string]any{"status": "completed", "exit_code": code, "output": string(out)})
		fmt.Println(string(raw))
		return code
	}
	cause := "done"
	if err != nil {
		cause = "tool"
	}
	raw, _ := json.Marshal(map[string]any{"cause": cause, "text": strings.TrimSpace(string(out))})
	fmt.Println(`{"type":"result",` + string(raw[1:]))
	return code
}

// serve is a worker as a process, which ends when it is killed.
func serve(url string) {
	s, err := Connect(context.Background(), Options{URL: url, AckWait: ackWait})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	w := worker(s, "process", os.Getenv("FLEET_TEST_DIR"))
	w.Notify = func(text string) { fmt.Println(text) }
	_ = w.Run(context.Background())
	os.Exit(0)
}

// worker makes a worker that admits everything.
func worker(s *Server, name, dir string) *Worker {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return &Worker{Server: s, Name: name, Version: "1", Jobs: 1, Redact: func(b []byte) []byte { return b }, Notify: func(string) {}, CheckCapacity: func() error { return nil },
		Refuses: func(batch.Task, []string) error { return nil },
		Runner: &batch.Runner{Dir: dir, Program: self, Env: append(slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, asWorker) }),
			asAdze+"=1", fmt.Sprint("WORKER=", os.Getpid())), Gate: func([]string) []string { return nil }, MaxTime: func([]string) time.Duration { return 0 }}}
}

// fleet is a cluster with a connection, and a folder for what tasks tell the test.
type fleet struct {
	*testing.T
	*Server
	cluster *natstest.Cluster
	dir     string
}

func newFleet(t *testing.T, start func(testing.TB, natstest.Options) *natstest.Cluster) *fleet {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not there")
	}
	if runtime.GOOS == "windows" {
		t.Skip("tasks of these tests are run by sh")
	}
	c := start(t, natstest.Options{})
	f := &fleet{t, connect(t, c.URL()), c, t.TempDir()}
	if err := os.WriteFile(filepath.Join(f.dir, "seed"), []byte("seed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return f
}

func connect(t *testing.T, url string) *Server {
	t.Helper()
	s, err := Connect(t.Context(), Options{URL: url, AckWait: ackWait})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// source is a folder with a file, which tasks work on.
func (f *fleet) source() string {
	dir := filepath.Join(f.dir, "source")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a\n"), 0o600)); err != nil {
		f.Fatal(err)
	}
	return dir
}

// submit submits commands as tasks t0, t1 …
func (f *fleet) submit(o Order, label string, commands ...string) Order {
	f.Helper()
	s := &Submission{Order: o, Label: label, Priority: UsualPriority}
	if s.Attempts == 0 {
		s.Attempts = UsualAttempts
	}
	for n, c := range commands {
		s.Tasks = append(s.Tasks, batch.Task{ID: fmt.Sprint("t", n), Folder: f.source(), Command: c, Line: n + 1})
	}
	if err := errors.Join(s.Prepare(), f.Submit(f.Context(), s)); err != nil {
		f.Fatal(err)
	}
	return s.Order
}

// works runs a worker in this process until stop, which gives back what runs.
func (f *fleet) works(w *Worker) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = w.Run(ctx) })
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	f.Cleanup(stop)
	return stop
}

// process runs a worker as a process.
func (f *fleet) process() *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		f.Fatal(err)
	}
	c := exec.Command(self)
	dir := f.TempDir()
	c.Env = append(os.Environ(), asWorker+"="+f.URL(), "FLEET_TEST_DIR="+dir)
	var log bytes.Buffer
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		if f.Failed() {
			f.Logf("worker process: %s", log.String())
		}
	})
	return c
}

// follow waits for all results of a batch, and fails where one comes twice.
func (f *fleet) follow(o Order) map[string]Stored {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), patience)
	defer cancel()
	all := map[string]Stored{}
	err := f.Follow(ctx, o, func(string, []byte) {}, func(s Stored) error {
		if _, twice := all[s.Task]; twice {
			f.Errorf("%s has two results", s.Task)
		}
		all[s.Task] = s
		return nil
	})
	if err != nil {
		f.Fatalf("after %d results: %v", len(all), err)
	}
	return all
}

// until waits for a state.
func (f *fleet) until(what string, is func() bool) {
	f.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			f.Fatalf("no %s", what)
		}
	}
}

func (f *fleet) read(name string) string {
	raw, _ := os.ReadFile(filepath.Join(f.dir, name)) // there is none before a task wrote it
	return string(raw)
}

func (f *fleet) isThere(name string) bool {
	_, err := os.Stat(filepath.Join(f.dir, name))
	return err == nil
}

func TestEachTaskHasOneResult(t *testing.T) {
	t.Parallel()
	f := newFleet(t, natstest.Start)
	var commands []string
	for n := range 8 {
		commands = append(commands, fmt.Sprintf("echo %d >>%s/ran; echo b >>a.txt", n, f.dir))
	}
	o := f.submit(Order{}, UsualLabel, append(commands, "exit 3", "true")...)
	dirs := []string{t.TempDir(), t.TempDir()}
	for n, dir := range dirs {
		w := worker(connect(t, f.URL()), fmt.Sprint("w", n), dir)
		w.Jobs = 2
		f.works(w)
	}
	all := f.follow(o)
	if lines := strings.Count(f.read("ran"), "\n"); lines != 8 || len(all) != 10 {
		t.Errorf("%d commands ran, %d results", lines, len(all))
	}
	for id, r := range all {
		want := batch.CauseDone
		if id == "t8" {
			want = "tool"
		}
		if r.Cause != want || r.OK != (want == batch.CauseDone) || (r.PatchFile == "") != (id == "t8" || id == "t9") {
			t.Errorf("%s: %+v", id, r)
		}
	}
	var patch bytes.Buffer
	if err := f.File(t.Context(), all["t0"].PatchFile, &patch); err != nil || !strings.Contains(patch.String(), "+b\n") {
		t.Errorf("%v: %s", err, patch.String())
	}
	for _, dir := range dirs {
		f.until("empty folder of clones", func() bool { left, _ := filepath.Glob(filepath.Join(dir, o.ID+"*")); return len(left) == 0 })
	}
	if lanes, err := f.Lanes(t.Context(), ""); err != nil || len(lanes) != 0 {
		t.Errorf("%v %v", lanes, err)
	}
	// The same once more changes nothing.
	again := &Submission{Order: o, Label: UsualLabel, Priority: UsualPriority, Tasks: []batch.Task{{ID: "t0", Folder: f.source(), Command: "echo again >>" + f.dir + "/ran"}}}
	if err := errors.Join(again.Prepare(), f.Submit(t.Context(), again)); err != nil {
		t.Fatal(err)
	}
	if lanes, err := f.Lanes(t.Context(), ""); err != nil || len(lanes) != 0 {
		t.Errorf("what has a result waits again: %v %v", lanes, err)
	}
}

// TestATaskWhoseWorkerIsKilledBeginsAnew in a new clone, without what the first one had changed.
func TestATaskWhoseWorkerIsKilledBeginsAnew(t *testing.T) {
	t.Parallel()
	f := newFleet(t, natstest.Start)
	o := f.submit(Order{}, UsualLabel,
		fmt.Sprintf("echo try >>%s/tries; wc -l <a.txt >>%[1]s/lines; echo b >>a.txt; [ -e %[1]s/second ] || { : >%[1]s/second; kill -9 $WORKER; sleep 600; }", f.dir), "true")
	first := f.process()
	_ = first.Wait() // it is killed by its task
	f.works(worker(connect(t, f.URL()), "w", t.TempDir()))
	all := f.follow(o)
	if len(all) != 2 || !all["t0"].OK || !all["t1"].OK || all["t0"].Changed != 1 {
		t.Errorf("%+v", all)
	}
	if tries, lines := f.read("tries"), strings.Fields(f.read("lines")); tries != "try\ntry\n" || !slices.Equal(lines, []string{"1", "1"}) {
		t.Errorf("%q %q", tries, lines)
	}
}

// TestATaskThatKillsItsWorkersIsDead after as many attempts as its batch allows, and is kept for
// people.
func TestATaskThatKillsItsWorkersIsDead(t *testing.T) {
	t.Parallel()
	f := newFleet(t, natstest.Start)
	o := f.submit(Order{Attempts: 2}, UsualLabel, fmt.Sprintf("echo try >>%s/tries; kill -9 $WORKER; sleep 600", f.dir))
	for range 2 {
		_ = f.process().Wait() // it is killed by its task
	}
	f.works(worker(connect(t, f.URL()), "w", t.TempDir()))
	all := f.follow(o)
	if r := all["t0"]; r.Cause != batch.CauseDead || r.OK || f.read("tries") != "try\ntry\n" {
		t.Errorf("%+v after %q", r, f.read("tries"))
	}
	dead, err := f.js.Stream(t.Context(), "ADZE_DEAD")
	if err != nil {
		t.Fatal(err)
	}
	m, err := dead.GetLastMsgForSubject(t.Context(), "adze.dead."+o.ID+".t0")
	if err != nil || !strings.Contains(string(m.Data), "kill -9") || m.Header.Get("Adze-Reason") == "" {
		t.Errorf("%v %+v", err, m)
	}
}

// TestServersThatAreKilledLoseNothing kills the server, or the one of three that leads, while a
// task runs.
func TestServersThatAreKilledLoseNothing(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(testing.TB, natstest.Options) *natstest.Cluster{"one": natstest.Start, "three": natstest.StartCluster} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, start)
			f.works(worker(connect(t, f.URL()), "w", t.TempDir()))
			o := f.submit(Order{Attempts: 9}, UsualLabel, fmt.Sprintf(": >%s/began; until [ -e %[1]s/go ]; do sleep 0.05; done; echo b >>a.txt", f.dir), "echo b >>a.txt")
			f.until("task that runs", func() bool { return f.isThere("began") })
			s := leader(f.cluster)
			s.Kill()
			if err := os.WriteFile(filepath.Join(f.dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if name == "one" {
				s.Restart()
			}
			all := f.follow(o)
			if len(all) != 2 || !all["t0"].OK || !all["t1"].OK || all["t0"].PatchFile == "" {
				t.Errorf("%+v", all)
			}
		})
	}
}

// TestACancelledBatchEnds: what runs is stopped, what waits does not begin, and other batches go
// on.
func TestACancelledBatchEnds(t *testing.T) {
	t.Parallel()
	f := newFleet(t, natstest.Start)
	o := f.submit(Order{}, UsualLabel, fmt.Sprintf("echo $$ >%s/pid; sleep 600", f.dir), fmt.Sprintf(": >%s/second", f.dir))
	f.works(worker(connect(t, f.URL()), "w", t.TempDir()))
	f.until("task that runs", func() bool { return strings.HasSuffix(f.read("pid"), "\n") })
	if err := f.Cancel(t.Context(), o.ID); err != nil {
		t.Fatal(err)
	}
	f.until("cancelled tasks", func() bool {
		all, err := f.Results(t.Context(), o.ID)
		return err == nil && len(all) == 2 && all[0].Cause == batch.CauseCancelled && all[1].Cause == batch.CauseCancelled
	})
	if f.isThere("second") {
		t.Error("a task of a cancelled batch began")
	}
	if all := f.follow(f.submit(Order{}, UsualLabel, "true")); !all["t0"].OK {
		t.Errorf("%+v", all)
	}
	// Without a worker, who follows does not wait for what never runs.
	lonely := f.submit(Order{}, "nobody", "true")
	w := worker(f.Server, "other", t.TempDir())
	w.Labels = []string{"core"}
	if err := f.Cancel(t.Context(), lonely.ID); err != nil {
		t.Fatal(err)
	}
	one := f.follow(lonely)
	if len(one) > 1 {
		t.Errorf("%+v", one)
	}
	if err := f.Delete(t.Context(), o.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Batch(t.Context(), o.ID); !errors.Is(err, ErrNone) {
		t.Errorf("a deleted batch: %v", err)
	}
}

// TestBatchesTakeTurns: of two batches of one priority a worker takes one task each; a higher one
// comes first.
func TestBatchesTakeTurns(t *testing.T) {
	t.Parallel()
	f := newFleet(t, natstest.Start)
	note := func(name string, n int) (out []string) {
		for range n {
			out = append(out, fmt.Sprintf("echo %s >>%s/order", name, f.dir))
		}
		return out
	}
	a := f.submit(Order{}, UsualLabel, note("a", 6)...)
	b := f.submit(Order{}, UsualLabel, note("b", 3)...)
	urgent := &Submission{Order: Order{Attempts: 3}, Label: UsualLabel, Priority: 1, Tasks: []batch.Task{{ID: "u", Folder: f.source(), Command: note("u", 1)[0]}}}
	if err := errors.Join(urgent.Prepare(), f.Submit(t.Context(), urgent)); err != nil {
		t.Fatal(err)
	}
	f.works(worker(connect(t, f.URL()), "w", t.TempDir()))
	f.follow(a)
	f.follow(b)
	order := strings.Join(strings.Fields(f.read("order")), "")
	if order != "uabababaaa" && order != "ubabababaa"[:10] && order != "ubababaaaa" {
		t.Errorf("tasks ran in the order %s", order)
	}
}

// TestAResultIsStoredOnce, whoever comes second.
func TestAResultIsStoredOnce(t *testing.T) {
	t.Parallel()
	f := newFleet(t, natstest.Start)
	var storing sync.WaitGroup
	for n := range 8 {
		w := worker(connect(t, f.URL()), fmt.Sprint("w", n), t.TempDir())
		storing.Go(func() {
			if err := w.store(t.Context(), "b.t", Stored{Result: batch.Result{Task: "t", Cause: "done", Worker: w.Name}}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	storing.Wait()
	e, err := f.results.History(t.Context(), "b.t")
	if err != nil || len(e) != 1 || e[0].Revision() != 1 {
		t.Errorf("%v %v", e, err)
	}
}

// TestAWorkerThatStopsGivesBack what runs, and another one begins it anew.
func TestAWorkerThatStopsGivesBack(t *testing.T) {
	t.Parallel()
	f := newFleet(t, natstest.Start)
	o := f.submit(Order{}, UsualLabel, fmt.Sprintf("[ -e %s/began ] && exit 0; : >%[1]s/began; sleep 600", f.dir))
	stop := f.works(worker(connect(t, f.URL()), "first", t.TempDir()))
	f.until("task that runs", func() bool { return f.isThere("began") })
	f.until("worker that is there", func() bool {
		there, err := f.Workers(t.Context())
		return err == nil && len(there) == 1 && there[0].Name == "first"
	})
	stop()
	f.works(worker(connect(t, f.URL()), "second", t.TempDir()))
	if r := f.follow(o)["t0"]; !r.OK || r.Worker != "second" {
		t.Errorf("%+v", r)
	}
}

// TestAWorkerRefuses what its owner does not let tasks do, and what it cannot read.
func TestAWorkerRefuses(t *testing.T) {
	t.Parallel()
	f := newFleet(t, natstest.Start)
	w := worker(connect(t, f.URL()), "w", t.TempDir())
	w.Refuses = func(batch.Task, []string) error { return errors.New("no") }
	f.works(w)
	o := f.submit(Order{}, UsualLabel, fmt.Sprintf(": >%s/ran", f.dir))
	if r := f.follow(o)["t0"]; r.Cause != "denied" || r.Message != "no" || f.isThere("ran") {
		t.Errorf("%+v", r)
	}
	// A task that names another folder by its id, and one of a later version.
	for name, text := range map[string]string{"up": `{"order":{"id":"evil","attempts":3},"task":{"id":"../up","folder":"/","command":"true"}}`, "new": `{"order":{"id":"evil"},"task":{"id":"new","folder":"/","command":"true"},"newer":1}`} {
		l := lane{"2", UsualLabel, "evil"}
		if err := f.makeConsumer(t.Context(), l, Order{}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.js.Publish(t.Context(), l.subject(name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	f.until("refused tasks", func() bool {
		all, err := f.Results(t.Context(), "evil")
		return err == nil && len(all) == 2 && all[0].Cause == "usage" && all[1].Cause == "usage"
	})
}

func TestWhatAnOwnerAdmits(t *testing.T) {
	t.Parallel()
	own, other := t.TempDir(), t.TempDir()
	if err := os.Symlink(other, filepath.Join(own, "link")); err != nil {
		t.Skip(err)
	}
	far := batch.Task{Repo: "https://host/team/a.git"}
	for name, c := range map[string]struct {
		Limits
		task  batch.Task
		asked Asked
		want  string
	}{
		"nothing asked":     {Limits{}, far, Asked{}, ""},
		"plan":              {Limits{}, far, Asked{Mode: "plan"}, ""},
		"yolo":              {Limits{}, far, Asked{Mode: "yolo"}, "permission mode yolo"},
		"yolo admitted":     {Limits{Modes: []string{"yolo"}}, far, Asked{Mode: "yolo"}, ""},
		"sandbox off":       {Limits{}, far, Asked{Sandbox: "off"}, "outside the sandbox"},
		"off admitted":      {Limits{SandboxOff: true}, far, Asked{Sandbox: "off"}, ""},
		"a rule":            {Limits{}, far, Asked{Rules: []string{"execute(rm **)"}}, "--allow"},
		"a rule admitted":   {Limits{Rules: []string{"network(a)"}}, far, Asked{Rules: []string{"network(a)"}}, ""},
		"another rule":      {Limits{Rules: []string{"network(a)"}}, far, Asked{Rules: []string{"network(*)"}}, "--allow"},
		"a flag with files": {Limits{}, far, Asked{Flags: []string{"attach"}}, "--attach"},
		"a folder":          {Limits{}, batch.Task{Folder: own}, Asked{}, "the folder"},
		"folder admitted":   {Limits{Folders: []string{own}}, batch.Task{Folder: filepath.Join(own, "x")}, Asked{}, ""},
		"by a link":         {Limits{Folders: []string{own}}, batch.Task{Folder: filepath.Join(own, "link", "x")}, Asked{}, "the folder"},
		"by dots":           {Limits{Folders: []string{own}}, batch.Task{Repo: own + "/../" + filepath.Base(other)}, Asked{}, "the folder"},
		"file url":          {Limits{}, batch.Task{Repo: "file://" + own}, Asked{}, "the folder"},
		"repository":        {Limits{Repositories: []string{"https://host/team/*"}}, far, Asked{}, ""},
		"braces by a star":  {Limits{Repositories: []string{"https://host/team/repo*{,.git}"}}, batch.Task{Repo: "https://host/team/repo"}, Asked{}, ""},
		"other repository":  {Limits{Repositories: []string{"https://host/other/*"}}, far, Asked{}, "the repository"},
	} {
		err := c.Refuses(c.task, c.asked)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	owner := Limits{Modes: []string{"yolo"}, Folders: []string{own}, Repositories: []string{"https://host/team/*"}}
	if l, err := (Limits{Modes: []string{"yolo"}, Folders: []string{filepath.Join(own, "x")}}).RestrictTo(owner); err != nil || len(l.Repositories) != 1 {
		t.Errorf("%+v %v", l, err)
	}
	for _, more := range []Limits{{SandboxOff: true}, {Modes: []string{"other"}}, {Rules: []string{"a"}}, {Folders: []string{other}}, {Repositories: []string{"**"}}} {
		if _, err := more.RestrictTo(owner); err == nil {
			t.Errorf("%+v is more than the owner admits", more)
		}
	}
}

// leader is the server that has the queue.
func leader(c *natstest.Cluster) *natstest.Server {
	if len(c.Servers) == 1 {
		return c.Servers[0]
	}
	return c.Leader("ADZE_TASKS")
}

// behind is an object store on a server that has not heard of a file yet.
type behind struct {
	jetstream.ObjectStore
	left int
}

func (b *behind) GetBytes(context.Context, string, ...jetstream.GetObjectOpt) ([]byte, error) {
	if b.left--; b.left >= 0 {
		return nil, jetstream.ErrObjectNotFound
	}
	return []byte("patch"), nil
}

func TestAFileIsReadFromAServerThatIsBehind(t *testing.T) {
	var got bytes.Buffer
	s := &Server{files: &behind{left: 2}}
	if err := s.File(t.Context(), "b.t.patch", &got); err != nil || got.String() != "patch" {
		t.Errorf("%q, %v", got.String(), err)
	}
}
