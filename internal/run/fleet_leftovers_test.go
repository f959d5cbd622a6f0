package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"adze/internal/testkit/natstest"
)

// TestATaskLeavesNothingOfItsCloneBehind: when its result is there, neither states of its files nor
// caches of its commands are, here or on a worker, nor what a worker keeps of its session.
func TestATaskLeavesNothingOfItsCloneBehind(t *testing.T) {
	needs(t, "git")
	for _, where := range []string{"here", "worker"} {
		t.Run(where, func(t *testing.T) {
			u := newUser(t).withName()
			repo := u.repository("r")
			model := u.script("-- 1 --\ncall bash: {\"command\":\"seq 1 200000; echo x >>a.txt\",\"description\":\"count\"}\n-- 2 --\ntext: it is done\n")
			u.file("t.jsonl", fmt.Sprintf("{\"id\":\"a\",\"repo\":%[1]q,\"prompt\":\"do it\",\"flags\":[%[2]q]}\n{\"id\":\"b\",\"repo\":%[1]q,\"command\":\"seq 1 200000; echo x >>a.txt\"}\n", repo, model))
			on := "here"
			if where == "worker" {
				on = natstest.Start(t, natstest.Options{}).URL()
				w := u.works("w", on, t.TempDir())
				defer func() { _ = w.Process.Signal(syscall.SIGTERM); _ = w.Wait() }()
			}
			u.run("batch", "t.jsonl", "--on", on, "--", "--permission-mode", "auto").wants(0)
			for id, r := range u.batchResults(filepath.Join(u.dir, "t.batch")) {
				if len(r) != 1 || !r[0].OK || r[0].Patch == "" {
					t.Errorf("%s: %+v", id, r)
				}
			}
			if where == "worker" {
				u.run("runs", "stats", "--on", on).wants(0)
			}
			state := filepath.Join(u.home, "state")
			if _, err := os.Stat(filepath.Join(state, "mirrors")); err != nil {
				t.Fatal(err)
			}
			for _, dir := range []string{"undo", "sandbox/cache", "sandbox/views"} {
				if left, _ := os.ReadDir(filepath.Join(state, dir)); len(left) > 0 {
					t.Errorf("%s has %v", dir, left)
				}
			}
			if left, _ := os.ReadDir(filepath.Join(state, "output")); where == "worker" && len(left) > 0 {
				t.Errorf("outputs of %v", left)
			} else if where == "here" && len(left) == 0 {
				t.Error("the session here has lost its outputs")
			}
			if work, _ := os.ReadDir(filepath.Join(u.dir, "t.batch", "work")); len(work) > 0 {
				t.Errorf("clones: %v", work)
			}
			if strings.Contains(fmt.Sprint(os.ReadDir(filepath.Join(u.dir, "t.batch"))), "repository") {
				t.Error("a clone is left")
			}
		})
	}
}

// TestAKilledWorkersLeftoversGoWithTheNext: nothing of a clone stays that nobody could clear.
func TestAKilledWorkersLeftoversGoWithTheNext(t *testing.T) {
	needs(t, "git")
	u := newUser(t).withName()
	on, repo, clones, there := natstest.Start(t, natstest.Options{}).URL(), u.repository("r"), t.TempDir(), filepath.Join(t.TempDir(), "there")
	model := u.script("-- 1 --\ncall bash: {\"command\":\"seq 1 200000\",\"description\":\"count\"}\n-- 2 --\ncall bash: {\"command\":\"touch " + there + "; sleep 600\",\"description\":\"wait\"}\n-- 3 --\ntext: done\n")
	u.file("t.jsonl", fmt.Sprintf("{\"id\":\"a\",\"repo\":%q,\"prompt\":\"do it\",\"flags\":[%q]}\n", repo, model))
	w := u.works("w", on, clones)
	u.run("batch", "t.jsonl", "--on", on, "--detach", "--", "--permission-mode", "yolo", "--sandbox", "off").wants(0)
	until(t, "call", func() bool { _, err := os.Stat(there); return err == nil })
	if left, _ := os.ReadDir(filepath.Join(u.home, "state", "output")); len(left) == 0 {
		t.Error("a call that runs has no outputs")
	}
	_ = w.Process.Kill()
	_ = w.Wait()
	next := u.works("next", on, clones, "--label", "none")
	until(t, "next worker", func() bool {
		log, _ := os.ReadFile(filepath.Join(u.home, "next.log"))
		return strings.Contains(string(log), "takes tasks from")
	})
	for _, dir := range []string{"output", "undo", "sandbox/cache", "sandbox/views"} {
		if left, _ := os.ReadDir(filepath.Join(u.home, "state", dir)); len(left) > 0 {
			t.Errorf("%s has %v", dir, left)
		}
	}
	_ = next.Process.Signal(syscall.SIGTERM)
	_ = next.Wait()
}
