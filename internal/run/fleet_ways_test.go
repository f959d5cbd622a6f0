package run_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/testkit/effort"
	"adze/internal/testkit/natstest"
)

// TestWorkersDoABatch: what is submitted is done, collected, looked at, cancelled and done again.
func TestWorkersDoABatch(t *testing.T) {
	needs(t, "git")
	u := newUser(t).withName()
	server, repo := natstest.Start(t, natstest.Options{}), u.repository("r")
	on := server.URL()
	u.env = append(u.env, "ADZE_NATS="+on)
	u.file("t.jsonl", fmt.Sprintf(`{"id":"good","repo":%q,"command":"echo x >x.txt"}
{"id":"nowhere","repo":"/nowhere/at/all","command":"true"}
{"id":"late","repo":%[1]q,"command":"true","labels":{"queue":"later","priority":"p3"}}
`, repo))
	id := strings.TrimSpace(u.run("batch", "t.jsonl", "--on", on, "--detach", "--", "--permission-mode", "yolo").wants(0).out)
	u.run("batch", "t.jsonl", "--on", "here").wants(2, "were submitted as batch "+id, "--on") // not once more on this machine
	u.run("runs", "list").wants(0, id, "3")
	u.run("__complete", "runs", "cancel", "").wants(0, id)
	w := u.works("w", on, t.TempDir(), "--label", "default", "--grace", "0s")
	var late struct{ ID, State string }
	for end := time.Now().Add(patience); ; {
		found := u.run("runs", "list", id, "--json").wants(0).out
		if strings.Count(found, `"state":"finished"`) == 2 {
			for line := range strings.Lines(found) {
				if err := json.Unmarshal([]byte(line), &late); err != nil {
					t.Fatal(err)
				}
			}
			break
		}
		if time.Now().After(end) {
			t.Fatal(found)
		}
	}
	if late.State != "waiting" {
		t.Fatalf("%+v was taken by a worker of another label", late)
	}
	own := strings.TrimPrefix(late.ID, id+".")
	u.run("runs", "cancel", own[:6]).wants(0, "1 run is cancelled, 0 were over")
	u.run("batch", "t.jsonl", "--on", on, "--", "--permission-mode", "yolo").wants(8, "repository", "cancelled")
	u.run("runs", "follow", id).wants(8, "2 of 3 tasks did not succeed", "adze runs retry "+id)
	u.run("runs", "follow", id, "--json").wants(8, `"cause":"repository"`)
	all := u.batchResults(filepath.Join(u.dir, "t.batch"))
	for task, want := range map[string]string{"good": "done", "nowhere": "repository", "late": "cancelled"} {
		if len(all[task]) != 1 || all[task][0].Cause != want {
			t.Errorf("%s: %+v, want %s", task, all[task], want)
		}
	}
	tree := t.TempDir()
	inGit(t, repo, "worktree", "add", "-q", "--detach", tree, all["good"][0].Base)
	inGit(t, tree, "apply", "--index", filepath.Join(u.dir, "t.batch", all["good"][0].Patch))
	u.run("runs", "retry", id, "--cause", "cancelled").wants(0, "1 run waits for another round")
	u.run("runs", "stats").wants(0, "waiting", "later", "durability: not proven")
	w.Process.Signal(syscall.SIGTERM)
	if err := w.Wait(); err != nil {
		t.Errorf("a worker that is told to stop: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Join(u.dir, "t.batch", "work")); len(left) != 0 {
		t.Errorf("%d clones are left where the batch was submitted", len(left))
	}
}

// TestAWorkerWaitsForItsServer: one that is started before its server says so, takes tasks when it
// is there, and ends well when it is told to stop before.
func TestAWorkerWaitsForItsServer(t *testing.T) {
	effort.Needs(t, effort.Short, "a server is waited for")
	u := newUser(t)
	server := natstest.Start(t, natstest.Options{})
	server.Servers[0].Kill()
	says := func(name, text string) {
		t.Helper()
		for end := time.Now().Add(patience); ; {
			log, _ := os.ReadFile(filepath.Join(u.home, name+".log"))
			if strings.Contains(string(log), text) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s never said %q:\n%s", name, text, log)
			}
			<-time.After(20 * time.Millisecond)
		}
	}
	stays, stopped := u.works("stays", server.URL(), t.TempDir()), u.works("stopped", server.URL(), t.TempDir())
	says("stays", "waiting for the server: no NATS server answers")
	says("stopped", "waiting for the server")
	stopped.Process.Signal(syscall.SIGTERM)
	if err := stopped.Wait(); err != nil {
		t.Errorf("a worker that waits and is told to stop: %v", err)
	}
	server.Servers[0].Restart()
	says("stays", "takes tasks from "+server.URL())
	stays.Process.Signal(syscall.SIGTERM)
	if err := stays.Wait(); err != nil {
		t.Errorf("a worker that is told to stop: %v", err)
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
	u.file("long.jsonl", `{"repo":"r","prompt":"`+strings.Repeat("x", 10<<20)+`"}`+"\n")
	u.file("label.jsonl", `{"repo":"r","command":"true","labels":{"queue":"a.b"}}`+"\n")
	with(wrong).run("batch", "t.jsonl", "--on", on).wants(2, "lets nobody in with the token in "+wrong)
	with(wrong).run("worker", "--on", on).wants(2, "lets nobody in")
	with(filepath.Join(u.home, "none")).run("runs", "list", "--on", on).wants(2, "the token", "no such file")
	with(right).run("runs", "list", "--on", strings.Replace(on, "//", "//right@", 1)).wants(2, "carries a secret")
	with(right).run("runs", "list", "--on", "http://127.0.0.1").wants(2, "want nats://HOST:PORT")
	with(right).run("runs", "list").wants(2, "no server is named")
	u.run("batch", "broken.jsonl", "--on", on).wants(2, "line 1: it is no task", "nothing was begun")
	u.run("batch", "long.jsonl", "--on", on).wants(2, "line 1: it is longer than 1024 KiB")
	u.run("batch", "label.jsonl", "--on", on).wants(2, "line 1", "of small letters")
	u.run("batch", "t.jsonl", "--on", on, "--keep", "all").wants(2, "of a batch on this machine")
	u.run("runs", "show", "nothing", "--on", on).wants(2, `no run or batch "nothing"`)
	u.run("runs", "list", "--on", on).wants(0)
	server.Servers[0].Stop() // it stands still, and its socket takes connections
	u.run("runs", "list", "--on", on).wants(10, "no NATS server answers")
	server.Servers[0].Cont()
	if got := u.run("runs", "list", "--on", on, "--json").wants(0).out; got != "" {
		t.Errorf("submitted: %s", got)
	}
}
