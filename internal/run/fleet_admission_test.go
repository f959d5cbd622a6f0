package run_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/internal/testkit/natstest"
)

// A batch never gets more of a worker than its owner admits: what goes beyond ends with the reason,
// and nothing is run.
func TestAWorkersOwnerSaysWhatTasksMayAskFor(t *testing.T) {
	needs(t, "git")
	u := newUser(t).withName()
	on, repo := natstest.Start(t, natstest.Options{}).URL(), u.repository("r")
	secret := filepath.Join(u.home, "private")
	if err := os.MkdirAll(secret, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(secret, "id"), []byte("key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ran := filepath.Join(u.home, "ran")
	link := filepath.Join(repo, "..", "link")
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	task := func(id string, fields map[string]any) string {
		fields["id"] = id
		if fields["command"] == nil {
			fields["command"] = "touch " + ran + "-" + id
		}
		raw, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw) + "\n"
	}
	refused := map[string]string{
		"mode":    task("mode", map[string]any{"repo": repo, "flags": []string{"--permission-mode", "yolo"}}),
		"outside": task("outside", map[string]any{"repo": repo, "flags": []string{"--sandbox=off"}}),
		"rule":    task("rule", map[string]any{"repo": repo, "flags": []string{"--allow", "network(*.example.com)"}}),
		"file":    task("file", map[string]any{"repo": repo, "flags": []string{"--system-prompt", "/etc/passwd"}}),
		"folder":  task("folder", map[string]any{"folder": secret, "command": "cat id >copy"}),
		"link":    task("link", map[string]any{"folder": link, "command": "cat id >copy"}),
		"address": task("address", map[string]any{"repo": "file://" + secret}),
		"other":   task("other", map[string]any{"repo": "https://127.0.0.1:1/x.git"}),
	}
	text := ""
	for _, line := range refused {
		text += line
	}
	u.file("t.jsonl", text)
	worker := u.command("worker", "--on", on, "--dir", t.TempDir(), "--sandbox-level", "none", "--allow-folder", filepath.Dir(repo), "--allow-repository", "https://host.example/*")
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { worker.Process.Kill(); worker.Wait() })
	u.run("batch", "t.jsonl", "--on", on).wants(8)
	for id := range refused {
		r := u.batchResults(filepath.Join(u.dir, "t.batch"))[id]
		if len(r) != 1 || r[0].Cause != "denied" || !strings.Contains(r[0].Message, "the owner of the worker does not admit") || r[0].Patch != "" {
			t.Errorf("%s: %+v", id, r)
		}
		if _, err := os.Stat(ran + "-" + id); err == nil {
			t.Errorf("%s was run", id)
		}
	}
}

// A batch goes to the server of the environment, unless it is kept here, and what only workers obey
// is never ignored.
func TestABatchGoesWhereTheEnvironmentSays(t *testing.T) {
	needs(t, "git")
	u := newUser(t).withName()
	on, repo := natstest.Start(t, natstest.Options{}).URL(), u.repository("r")
	u.file("t.jsonl", fmt.Sprintf("{\"id\":\"a\",\"repo\":%q,\"command\":\"echo x >x.txt\"}\n", repo))
	for _, flag := range []string{"--detach", "--label=core", "--priority=1", "--attempts=2"} {
		u.run("batch", "t.jsonl", flag).wants(2, "no server is named")
	}
	u.run("batch", "t.jsonl", "--on", "here", "--out", "here", "--", "--permission-mode", "yolo").wants(0)
	if r := u.batchResults(filepath.Join(u.dir, "here"))["a"]; len(r) != 1 || !r[0].OK {
		t.Errorf("%+v", r)
	}
	u.env = append(u.env, "ADZE_NATS="+on)
	id := strings.TrimSpace(u.run("batch", "t.jsonl", "--detach").wants(0).out)
	u.run("runs", "list", id).wants(0, "waiting")
}

// Two that submit the same file at once submit one batch.
func TestTheSameFileIsSubmittedOnce(t *testing.T) {
	u := newUser(t).withName()
	on, repo := natstest.Start(t, natstest.Options{}).URL(), u.repository("r")
	u.file("t.jsonl", fmt.Sprintf("{\"id\":\"a\",\"repo\":%q,\"command\":\"true\"}\n{\"id\":\"b\",\"repo\":%[1]q,\"command\":\"true\"}\n", repo))
	for n := range 5 {
		var both sync.WaitGroup
		for range 3 {
			both.Go(func() { u.run("batch", "t.jsonl", "--on", on, "--detach", "--out", fmt.Sprint("out", n)).wants(0) })
		}
		both.Wait()
	}
	if got := strings.Count(u.run("runs", "list", "--on", on, "--json").wants(0).out, `"id"`); got != 5 {
		t.Errorf("%d batches, want 5", got)
	}
}

// Any number of workers may be started at once below the same folder.
func TestWorkersThatStartAtOnce(t *testing.T) {
	u := newUser(t)
	on, dir := natstest.Start(t, natstest.Options{}).URL(), t.TempDir()
	for n := range 12 {
		u.works(fmt.Sprint("w", n), on, dir)
	}
	deadline := time.Now().Add(patience)
	for n := 0; n < 12; {
		raw, err := os.ReadFile(filepath.Join(u.home, fmt.Sprint("w", n, ".log")))
		switch {
		case err == nil && strings.Contains(string(raw), "takes tasks from"):
			n++
		case strings.Contains(string(raw), "error:"), time.Now().After(deadline):
			t.Fatalf("worker %d: %s", n, raw)
		}
	}
}
