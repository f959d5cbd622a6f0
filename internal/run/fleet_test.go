package run_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/testkit/effort"
	"adze/internal/testkit/natstest"
)

// works starts a worker with its clones in a folder, whose process id is in a file, which its tasks
// find by $WORKER_PID.
func (u *user) works(name, on, dir string, args ...string) *exec.Cmd {
	u.t.Helper()
	pid := filepath.Join(u.home, name+".pid")
	worker := u.command(append([]string{"worker", "--on", on, "--name", name, "--dir", dir, "--allow-mode", "yolo", "--allow-sandbox-off", "--allow-folder", "/"}, args...)...)
	cmd := exec.Command("sh", append([]string{"-c", `echo $$ >"$0"; exec "$@"`, pid}, worker.Args...)...)
	cmd.Dir, cmd.Env = worker.Dir, append(worker.Env, "WORKER_PID="+pid)
	log, err := os.OpenFile(filepath.Join(u.home, name+".log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600) // of all that were started under the name
	if err != nil {
		u.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		log.Close()
		if text, _ := os.ReadFile(log.Name()); u.t.Failed() {
			u.t.Logf("%s:\n%s", name, text)
		}
	})
	return cmd
}

// counting writes the scripts of a task whose calls each count themselves in a file of their own.
// Before a call counts, it sees to that a model that is asked anew goes on behind it, so that a
// second count is a call that was made twice.
func (u *user) counting(dir, task string, calls int, also func(call int) string) (model string) {
	u.t.Helper()
	path := filepath.Join(dir, task+".txtar")
	for from := 0; from <= calls; from++ {
		text, step := "# a task\n", 1
		for call := from + 1; call <= calls; call, step = call+1, step+1 {
			command := fmt.Sprintf("cp %s.%d %[1]s.new && mv %[1]s.new %[1]s; echo x >>%[3]s; echo %[4]d >>done.txt%[5]s", path, call, filepath.Join(dir, fmt.Sprintf("%s-%d.count", task, call)), call, also(call))
			text += fmt.Sprintf("-- %d --\ncall bash: {\"command\":%q}\n", step, command)
		}
		text += fmt.Sprintf("-- %d --\ntext: end\n", step)
		name := fmt.Sprintf("%s.%d", path, from)
		if from == 0 {
			name = path
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			u.t.Fatal(err)
		}
	}
	return "--model=script/" + path
}

// TestAWorkerThatIsKilledLosesNothing: one server, two workers as processes, twelve tasks; a call
// kills the worker that it runs under. Every task has one result, no call is made twice, and
// nothing is left running.
func TestAWorkerThatIsKilledLosesNothing(t *testing.T) {
	effort.Needs(t, effort.Short, "a ticket waits some time for its worker")
	needs(t, "git")
	if runtime.GOOS != "linux" {
		t.Skip("what a killed worker started dies with it on Linux; elsewhere when it next says something")
	}
	u := newUser(t).withName()
	u.env = append(u.env, "ADZE_NATS_LEASE=6s")
	server, repo, dir := natstest.Start(t, natstest.Options{}), u.repository("r"), t.TempDir()
	clones := t.TempDir() // not below adze's own folders, where no task may write
	const tasks, calls = 12, 3
	var lines strings.Builder
	for i := range tasks {
		task := fmt.Sprint("t", i)
		model := u.counting(dir, task, calls, func(call int) string {
			if i == 0 && call == 2 {
				return fmt.Sprintf("; mkdir %s/killed && kill -9 $(cat $WORKER_PID); sleep 1", dir)
			}
			return ""
		})
		fmt.Fprintf(&lines, "{\"id\":%q,\"repo\":%q,\"prompt\":\"do it\",\"flags\":[%q],\"branch\":\"b-%s\",\"check\":\"true\"}\n", task, repo, model, task)
	}
	u.file("t.jsonl", lines.String())
	on := server.URL()
	first, second := u.works("first", on, clones), u.works("second", on, clones)
	u.run("batch", "t.jsonl", "--push", "--on", on, "--", "--permission-mode", "yolo", "--sandbox", "off").wants(0)
	out := filepath.Join(u.dir, "t.batch")
	all := u.batchResults(out)
	if len(all) != tasks {
		t.Fatalf("%d tasks have results", len(all))
	}
	killed := 0
	for i := range tasks {
		task := fmt.Sprint("t", i)
		r := all[task]
		if len(r) != 1 || !r[0].OK || r[0].Text != "end" || r[0].Pushed == "" && r[0].Resumed == 0 {
			t.Errorf("%s: %+v", task, r)
			continue
		}
		killed += r[0].Resumed
		for call := 1; call <= calls; call++ {
			count, _ := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%s-%d.count", task, call)))
			if n := len(count) / 2; n > 1 || n < 1 && r[0].Resumed == 0 {
				t.Errorf("call %d of %s was made %d times", call, task, n)
			}
		}
		if r[0].Pushed == "" { // what its first worker had changed after the last save went with it
			continue
		}
		if at := inGit(t, repo, "rev-parse", "b-"+task); at != r[0].Pushed {
			t.Errorf("%s is at %s, the result says %s", task, at, r[0].Pushed)
		}
	}
	if killed == 0 {
		t.Error("no task went on after its worker was killed")
	}
	for _, w := range []*exec.Cmd{first, second} {
		w.Process.Signal(syscall.SIGTERM)
		_ = w.Wait()
	}
	u.run("session", "show", all["t0"][0].Session, "--store", on).wants(0, "do it", "aborted", "The machine that ran this was lost")
	deadline := time.Now().Add(patience)
	for left := "?"; left != ""; {
		if left = runningBelow(clones); time.Now().After(deadline) {
			t.Fatalf("left running:\n%s", left)
		}
	}
	if shown := u.run("runs", "stats", "--on", on, "--json").wants(0); !strings.Contains(shown.out, `"state":"finished","cause":"done","runs":12`) || strings.Contains(shown.out, `"taken":1`) {
		t.Error(shown.out)
	}
}
