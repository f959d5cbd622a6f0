package run_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/testkit/natstest"
)

// keptOn counts those of all streams of a server, but for those of leases and tombstones.
func keptOn(t *testing.T, url string) map[string]int {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	all := js.ListStreams(t.Context())
	for info := range all.Info() {
		if name := info.Config.Name; info.State.Msgs > 0 && name != "KV_ADZE_LEASE" && name != "KV_ADZE_GONE" {
			out[name] = int(info.State.Msgs)
		}
	}
	if all.Err() != nil {
		t.Fatal(all.Err())
	}
	return out
}

// TestABatchIsDeletedWithAllThatWasKeptOfIt: records, prompts, sessions and patches, by hand and by
// age, and nothing of others.
func TestABatchIsDeletedWithAllThatWasKeptOfIt(t *testing.T) {
	needs(t, "git")
	u := newUser(t).withName()
	server := natstest.Start(t, natstest.Options{})
	on, repo := server.URL(), u.repository("r")
	model := u.script("-- 1 --\ncall bash: {\"command\":\"seq 1 90000; echo x >>a.txt\",\"description\":\"count\"}\n-- 2 --\ntext: it is done\n")
	long := strings.Repeat("words of a long task ", 5000)
	w := u.works("w", on, t.TempDir())
	submit := func(name, word string) (id string) {
		u.file(name+".jsonl", fmt.Sprintf("{\"id\":\"a\",\"repo\":%[1]q,\"prompt\":\"%[3]s prompt\",\"flags\":[%[2]q]}\n{\"id\":\"b\",\"repo\":%[1]q,\"command\":\"echo %[3]s >b.txt\",\"message\":\"%[4]s\"}\n", repo, model, word, long))
		u.run("batch", name+".jsonl", "--on", on, "--", "--permission-mode", "yolo").wants(0)
		for line := range strings.Lines(u.run("runs", "list", "--on", on).wants(0).out) {
			if of, _, _ := strings.Cut(line, " "); id == "" && of != "batch" {
				id = of
			}
		}
		return id
	}
	first := submit("one", "kwyjibo")
	session := u.batchResults(filepath.Join(u.dir, "one.batch"))["a"][0].Session
	u.run("runs", "delete", first, "--on", on).wants(2, "--yes")
	u.run("runs", "delete", first, "--on", on, "--yes").wants(0, "removed batch "+first)
	_ = w.Process.Signal(syscall.SIGTERM)
	_ = w.Wait()
	left := keptOn(t, on)
	delete(left, "KV_ADZE_PAUSE")  // when workers look for what is over
	delete(left, "KV_ADZE_WORKER") // who is there
	if len(left) > 0 {
		t.Errorf("left on the server: %v", left)
	}
	u.run("runs", "list", first, "--on", on).wants(2, "no run or batch")
	u.run("session", "show", session, "--store", on).wants(2)
	w = u.works("w", on, t.TempDir())
	second := submit("two", "plugh")
	// A batch that is not over stays.
	_ = w.Process.Signal(syscall.SIGTERM)
	_ = w.Wait()
	u.file("three.jsonl", fmt.Sprintf("{\"id\":\"a\",\"repo\":%q,\"command\":\"true\"}\n", repo))
	third := strings.TrimSpace(u.run("batch", "three.jsonl", "--on", on, "--detach").wants(0).out)
	u.run("runs", "delete", third, "--on", on, "--yes").wants(2, "not all of its runs are over", "adze runs cancel "+third)
	u.run("runs", "cancel", third, "--on", on).wants(0)
	u.run("runs", "delete", third, "--on", on, "--yes").wants(0)
	u.run("runs", "show", second+".", "--on", on)
	u.run("runs", "list", second, "--on", on).wants(0, "finished")
	u.run("runs", "delete", "--expired", "--on", on).wants(0, "removed 0 sessions")
	u.run("runs", "list", second, "--on", on).wants(0, "finished")
}

// TestASessionOfAServerIsDeleted with those of its subagents, when nobody has it open.
func TestASessionOfAServerIsDeleted(t *testing.T) {
	u := newUser(t)
	server := natstest.Start(t, natstest.Options{})
	on := server.URL()
	model := u.script("-- 1 --\ncall task: {\"description\":\"look\",\"prompt\":\"kwyjibo look\"}\n-- 2 --\ntext: found\n-- 3 --\ntext: done\n")
	u.run("-p", "--store", on, "--session-id", "one", model, "kwyjibo one").wants(0)
	u.run("-p", "--store", on, "--session-id", "two", u.script("-- 1 --\ntext: hi\n"), "plugh two").wants(0)
	if n := strings.Count(u.run("session", "list", "--all", "--store", on).wants(0).out, "\n"); n < 3 {
		t.Fatalf("%d lines", n)
	}
	u.run("session", "delete", "one", "--store", on).wants(2, "--yes")
	u.run("session", "delete", "one", "--store", on, "--yes").wants(0, "removed one")
	left := u.run("session", "list", "--all", "--store", on).wants(0)
	if strings.Contains(left.out, "one") || strings.Contains(left.out, "kwyjibo") || !strings.Contains(left.out, "two") {
		t.Error(left.out)
	}
	u.run("session", "verify", "two", "--store", on).wants(0)
	u.run("session", "delete", "one", "--store", on, "--yes").wants(2)
}

// TestSecretsOfAPromptStayOutOfTheRecords, while the task has them, and nothing of them is left
// when it has succeeded.
func TestSecretsOfAPromptStayOutOfTheRecords(t *testing.T) {
	needs(t, "git")
	u := newUser(t).withName()
	server := natstest.Start(t, natstest.Options{})
	on, repo := server.URL(), u.repository("r")
	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	u.file("t.jsonl", fmt.Sprintf("{\"id\":\"a\",\"repo\":%q,\"command\":\"printf %%s %s | sha256sum >sum.txt\"}\n", repo, secret))
	id := strings.TrimSpace(u.run("batch", "t.jsonl", "--on", on, "--detach", "--", "--permission-mode", "yolo").wants(0).out)
	for _, args := range [][]string{{"runs", "list", id, "--json"}, {"runs", "show", id + ".", "--json"}, {"runs", "show", id + "."}} {
		if all := u.run(append(args, "--on", on)...); strings.Contains(all.out+all.err, secret) {
			t.Errorf("%v: %s", args, all.out)
		}
	}
	nc, err := nats.Connect(on)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, _ := jetstream.New(nc)
	named := func() (subjects []string) {
		for _, stream := range []string{"KV_ADZE_RUN", "KV_ADZE_BODY", "ADZE_TASK", "ADZE_DEAD", "ADZE_LOG"} {
			s, err := js.Stream(t.Context(), stream)
			if err != nil {
				continue
			}
			for n := uint64(1); n <= s.CachedInfo().State.LastSeq; n++ {
				if m, err := s.GetMsg(t.Context(), n); err == nil && bytes.Contains(m.Data, []byte(secret)) {
					subjects = append(subjects, m.Subject)
				}
			}
		}
		return subjects
	}
	if got := named(); len(got) != 1 || !strings.HasPrefix(got[0], "$KV.ADZE_BODY.") {
		t.Errorf("the secret stands in %v", got)
	}
	u.works("w", on, t.TempDir())
	u.run("batch", "t.jsonl", "--on", on, "--", "--permission-mode", "yolo").wants(0)
	r := u.batchResults(filepath.Join(u.dir, "t.batch"))["a"]
	if len(r) != 1 || !r[0].OK {
		t.Fatalf("%+v", r)
	}
	patch, _ := os.ReadFile(filepath.Join(u.dir, "t.batch", r[0].Patch))
	if !strings.Contains(string(patch), "+3543c50b0cb9cea8") { // the task had it as it was written
		t.Errorf("%s", patch)
	}
	if got := named(); len(got) != 0 {
		t.Errorf("it is over, and the secret stands in %v", got)
	}
}
