package cmd_test

import (
	"encoding/json"
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

// until waits until something is so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); {
		if time.Now().After(end) {
			t.Fatalf("no %s", what)
		}
	}
}

// TestAWorkerThatIsKilledLosesNothing: a call kills the worker that it runs under. The task begins
// anew, every task has one result with its session, and nothing is left running.
func TestAWorkerThatIsKilledLosesNothing(t *testing.T) {
	effort.Needs(t, effort.Short, "a task waits some time for its worker")
	needs(t, "git")
	if runtime.GOOS != "linux" {
		t.Skip("what a killed worker started dies with it on Linux; elsewhere when it next says something")
	}
	u := newUser(t).withName()
	u.env = append(u.env, "ADZE_NATS_LEASE=1s")
	on, repo, dir, clones := natstest.Start(t, natstest.Options{}).URL(), u.repository("r"), t.TempDir(), t.TempDir()
	kills := u.script(fmt.Sprintf("-- 1 --\ncall bash: {\"command\":\"echo try >>%s/tries; echo x >>a.txt\"}\n-- 2 --\ncall bash: {\"command\":\"mkdir %[1]s/killed && kill -9 $(cat $WORKER_PID); sleep 1\"}\n-- 3 --\ntext: end\n", dir))
	u.file("t.jsonl", fmt.Sprintf("{\"id\":\"a\",\"repo\":%q,\"prompt\":\"do it\",\"flags\":[%q],\"branch\":\"b-a\",\"check\":\"true\"}\n{\"id\":\"b\",\"repo\":%[1]q,\"command\":\"exit 3\"}\n", repo, kills))
	first, second := u.works("first", on, clones, "--jobs", "1"), u.works("second", on, clones, "--jobs", "1")
	r := u.run("batch", "t.jsonl", "--push", "--on", on, "--", "--permission-mode", "yolo", "--sandbox", "off").wants(8, "1 of 2 tasks did not succeed")
	all := u.batchResults(filepath.Join(u.dir, "t.batch"))
	if a := all["a"]; len(a) != 1 || !a[0].OK || a[0].Text != "end" || a[0].Changed != 1 || len(all["b"]) != 1 || all["b"][0].Cause != "tool" {
		t.Fatalf("%+v\n%s", all, r.err)
	}
	if tries, _ := os.ReadFile(filepath.Join(dir, "tries")); string(tries) != "try\ntry\n" {
		t.Errorf("tries: %q", tries)
	}
	if at := inGit(t, repo, "rev-parse", "b-a"); at != all["a"][0].Pushed {
		t.Errorf("b-a is at %s, the result says %s", at, all["a"][0].Pushed)
	}
	var place struct{ Batch string }
	raw, err := os.ReadFile(filepath.Join(u.dir, "t.batch", "fleet.json"))
	if err != nil || json.Unmarshal(raw, &place) != nil {
		t.Fatal(err)
	}
	u.env = append(u.env, "ADZE_NATS="+on)
	u.run("batch", "show", place.Batch, "a", "--patch").wants(0, "+x")
	u.run("batch", "show", place.Batch, "a", "--session").wants(0, "do it")
	u.run("runs", "list", place.Batch).wants(0, "tool", "done") // the old name
	u.run("batch", "list").wants(0, place.Batch)
	u.run("batch", "t.jsonl", "--push", "--", "--permission-mode", "yolo", "--sandbox", "off").wants(8) // nothing is done twice
	u.run("batch", "t.jsonl", "--push", "--retry", "tool", "--", "--permission-mode", "yolo", "--sandbox", "off").wants(8)
	if again := u.batchResults(filepath.Join(u.dir, "t.batch")); len(again["a"]) != 1 || len(again["b"]) != 2 {
		t.Errorf("%+v", again)
	}
	for _, w := range []*exec.Cmd{first, second} {
		_ = w.Process.Signal(syscall.SIGTERM) // one of them is gone
		_ = w.Wait()
	}
	until(t, "end of what ran", func() bool { return runningBelow(clones) == "" })
	u.works("third", on, clones)
	until(t, "end of old clones", func() bool { left, _ := filepath.Glob(filepath.Join(clones, "*.lock")); return len(left) == 1 })
}

// TestAWorkerHoldsItsOwnersLimits, whatever a batch asks for.
func TestAWorkerHoldsItsOwnersLimits(t *testing.T) {
	needs(t, "git")
	u := newUser(t).withName()
	on := natstest.Start(t, natstest.Options{}).URL()
	outside := filepath.Join(u.home, "outside")
	u.file("t.jsonl", fmt.Sprintf(`{"id":"folder","folder":%q,"command":"echo x >%s"}
{"id":"mode","repo":"https://127.0.0.1:1/r.git","command":"true","flags":["--permission-mode=yolo"]}
{"id":"sandbox","repo":"https://127.0.0.1:1/r.git","command":"true","flags":["--sandbox=off"]}
{"id":"rule","repo":"https://127.0.0.1:1/r.git","command":"true","flags":["--allow=execute(**)"]}
`, u.dir, outside))
	worker := u.command("batch", "worker", "--on", on, "--dir", t.TempDir(), "--sandbox-level", "none")
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = worker.Process.Kill(); _ = worker.Wait() })
	u.run("batch", "t.jsonl", "--on", on).wants(8, "4 of 4 tasks did not succeed")
	all := u.batchResults(filepath.Join(u.dir, "t.batch"))
	for id, want := range map[string]string{"folder": "--allow-folder", "mode": "--allow-mode yolo", "sandbox": "--allow-sandbox-off", "rule": "--allow-rule"} {
		if r := all[id]; len(r) != 1 || r[0].Cause != "denied" || !strings.Contains(r[0].Message, want) {
			t.Errorf("%s: %+v", id, r)
		}
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("a task ran that the owner does not admit")
	}
}

// TestWhatIsGoneIsSaid: who uses a name, a flag or a variable that is gone hears what serves
// instead.
func TestWhatIsGoneIsSaid(t *testing.T) {
	u := newUser(t)
	u.file("t.jsonl", `{"id":"a","folder":".","command":"true"}`+"\n")
	u.run("runs", "retry", "x").wants(2, "--retry CAUSE")
	u.run("runs", "limit", "core", "1").wants(2, "--jobs N")
	u.run("runs", "stats").wants(2, "adze batch list")
	u.run("-p", "--store=nats://127.0.0.1:1", "hi").wants(2, "--store is gone")
	u.run("batch", "t.jsonl", "--on", "nats://127.0.0.1:1", "--max-cost", "1").wants(2, "bound each task")
	clean := u.env
	u.env = append(clean[:len(clean):len(clean)], "ADZE_STORE=nats://127.0.0.1:1")
	u.run("session", "list").wants(2, "ADZE_STORE is gone")
	u.run("-p", u.script("-- 1 --\ntext: hi\n"), "hi").wants(2, "ADZE_STORE is gone")
	u.env = clean
	if _, err := exec.LookPath("git"); err == nil {
		u.run("batch", "t.jsonl", "--listen", "127.0.0.1:0", "--", "--permission-mode", "yolo").wants(0, "--listen is left out")
	}
}

// TestWhatIsWrongWithAServerIsToldOnce: each has one clear outcome, and nothing is submitted.
func TestWhatIsWrongWithAServerIsToldOnce(t *testing.T) {
	u := newUser(t)
	server := natstest.Start(t, natstest.Options{Token: "right"})
	wrong, right := filepath.Join(u.home, "wrong"), filepath.Join(u.home, "right")
	for path, text := range map[string]string{wrong: "wrong\n", right: "right\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	clean := u.env
	with := func(token string) *user {
		u.env = append(clean[:len(clean):len(clean)], "ADZE_NATS_TOKEN_FILE="+token)
		return u
	}
	on := server.URL()
	u.file("t.jsonl", `{"repo":"r","command":"true"}`+"\n")
	u.file("broken.jsonl", "nonsense\n")
	u.file("label.jsonl", `{"repo":"r","command":"true","labels":{"queue":"a.b"}}`+"\n")
	with(wrong).run("batch", "t.jsonl", "--on", on).wants(2, "lets nobody in with the token in "+wrong)
	with(wrong).run("worker", "--on", on).wants(2, "lets nobody in")
	with(filepath.Join(u.home, "none")).run("batch", "list", "--on", on).wants(2, "the token", "no such file")
	with(right).run("batch", "list", "--on", strings.Replace(on, "//", "//right@", 1)).wants(2, "carries a secret")
	u.run("batch", "list", "--on", "http://127.0.0.1").wants(2, "want nats://HOST:PORT")
	u.run("batch", "list").wants(2, "no server is named")
	u.run("batch", "list", "--on", "nats://127.0.0.1:1").wants(10, "no NATS server answers")
	u.run("batch", "broken.jsonl", "--on", on).wants(2, "line 1: it is no task", "nothing was begun")
	u.run("batch", "label.jsonl", "--on", on).wants(2, "line 1", "small letters")
	u.run("batch", "t.jsonl", "--on", on, "--keep", "all").wants(2, "of a batch on this machine")
	u.run("batch", "show", "nothing", "a", "--on", on).wants(2, "no such batch")
	if got := u.run("batch", "list", "--on", on, "--json").wants(0).out; got != "" {
		t.Errorf("submitted: %s", got)
	}
}

// TestACheckEndsByMaxTime as a prompt does, and a command, too.
func TestACheckEndsByMaxTime(t *testing.T) {
	needs(t, "git")
	u := newUser(t).withName()
	u.file("t.jsonl", fmt.Sprintf("{\"id\":\"check\",\"repo\":%q,\"command\":\"true\",\"check\":\"sleep 1000\",\"flags\":[\"--max-time=1s\"]}\n{\"id\":\"command\",\"repo\":%[1]q,\"command\":\"sleep 1000\"}\n", u.repository("r")))
	u.run("batch", "t.jsonl", "--", "--max-time", "1s").wants(8)
	all := u.batchResults(filepath.Join(u.dir, "t.batch"))
	for task, want := range map[string]string{"check": "check", "command": "tool"} {
		if r := all[task]; len(r) != 1 || r[0].Cause != want || !strings.Contains(r[0].Message, "timed out after 1s") {
			t.Errorf("%s: %+v", task, r)
		}
	}
}

// TestACostLimitStopsABatch, and more money has it go on.
func TestACostLimitStopsABatch(t *testing.T) {
	needs(t, "git")
	u := newUser(t).withName()
	u.configure(`{"models": {"script/*": {"price": {"input": 100, "output": 100}}}}`)
	model := u.script("-- 1 --\ncall bash: {\"command\":\"echo 1 >>x.txt\"}\nusage: input=1000 output=0\n-- 2 --\ntext: end\nusage: input=1000 output=0\n")
	lines, repo := "", u.repository("r")
	for i := range 5 {
		lines += fmt.Sprintf("{\"id\":\"t%d\",\"repo\":%q,\"prompt\":\"do it\",\"flags\":[%q]}\n", i, repo, model)
	}
	u.file("t.jsonl", lines)
	u.run("batch", "t.jsonl", "--jobs", "1", "--max-cost", "0.45").wants(6, "raise --max-cost", "$0.50 of $0.45")
	if all := u.batchResults(filepath.Join(u.dir, "t.batch")); len(all) != 2 {
		t.Errorf("%+v", all)
	}
	u.run("batch", "t.jsonl", "--jobs", "1", "--max-cost", "5").wants(0)
}
