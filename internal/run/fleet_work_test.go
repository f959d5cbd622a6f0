package run_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
	"adze/internal/testkit/natstest"
)

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

// TestWhoIsThere: a batch that nobody takes says so at once, and the list of workers has who is
// there, with what they take.
func TestWhoIsThere(t *testing.T) {
	needs(t, "git")
	u := newUser(t).withName()
	on := natstest.Start(t, natstest.Options{}).URL()
	u.env = append(u.env, "ADZE_NATS="+on)
	u.file("t.jsonl", fmt.Sprintf("{\"id\":\"a\",\"repo\":%q,\"command\":\"true\",\"labels\":{\"queue\":\"core\"}}\n", u.repository("r")))
	u.run("runs", "workers").wants(0, "no worker is there; start one: adze worker --on "+on)
	id := strings.TrimSpace(u.run("batch", "t.jsonl", "--detach").wants(0, "no worker takes tasks of the label core now, so that 1 task waits").out)
	u.works("other", on, t.TempDir(), "--label", "web")
	until(t, "worker", func() bool { return strings.Contains(u.run("runs", "workers").wants(0).out, "other") })
	u.run("batch", "t.jsonl", "--detach").wants(0, "no worker takes tasks of the label core now")
	u.works("w", on, t.TempDir(), "--label", "core", "--jobs", "3")
	until(t, "worker", func() bool { return strings.Contains(u.run("runs", "workers").wants(0).out, "w ") })
	u.run("runs", "follow", id).wants(0)
	var found bool
	for line := range strings.Lines(u.run("runs", "workers", "--json").wants(0).out) {
		var p struct {
			Name, Version string
			Labels        []string
			Jobs          int
		}
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		found = found || p.Name == "w" && p.Version != "" && p.Jobs == 3 && len(p.Labels) == 1 && p.Labels[0] == "core"
	}
	if !found {
		t.Error(u.run("runs", "workers", "--json").out)
	}
	u.run("batch", "t.jsonl", "--", "--max-turns", "3").wants(2, "was submitted with other flags")
}

// TestACostLimitIsTheSameEverywhere: a batch on this machine and the same one by a worker do as
// many tasks for as much.
func TestACostLimitIsTheSameEverywhere(t *testing.T) {
	effort.Needs(t, effort.Short, "it runs tasks in three ways")
	needs(t, "git")
	u := newUser(t).withName()
	u.configure(`{"models": {"script/*": {"price": {"input": 100, "output": 100}}}}`)
	on, repo := natstest.Start(t, natstest.Options{}).URL(), u.repository("r")
	model := filepath.Join(u.home, "m.txtar")
	script := "# a task\n"
	for step := 1; step <= 3; step++ {
		script += fmt.Sprintf("-- %d --\ncall bash: {\"command\":\"echo %[1]d >>x.txt\"}\nusage: input=1000 output=10\n", step)
	}
	if err := os.WriteFile(model, []byte(script+"-- 4 --\ntext: end\nusage: input=1000 output=10\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := ""
	for i := range 6 {
		lines += fmt.Sprintf("{\"id\":\"t%d\",\"repo\":%q,\"prompt\":\"do it\",\"flags\":[\"--model=script/%s\"]}\n", i, repo, model)
	}
	u.file("one.jsonl", strings.SplitAfter(lines, "\n")[0])
	u.file("t.jsonl", lines)
	cost := func(out string) (done int, sum float64) {
		raw, err := os.ReadFile(filepath.Join(u.dir, out, "results.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			var r struct {
				OK   bool
				Cost float64 `json:"cost_usd"`
			}
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			if sum += r.Cost; r.OK {
				done++
			}
		}
		return done, sum
	}
	u.run("batch", "one.jsonl").wants(0)
	_, each := cost("one.batch")
	if each <= 0 {
		t.Fatal("a task has no price")
	}
	limit := fmt.Sprintf("%.5f", each*3.5)
	here := u.run("batch", "t.jsonl", "--jobs", "1", "--max-cost", limit, "--out", "here").wants(6, "raise --max-cost").err
	u.works("w", on, t.TempDir(), "--jobs", "1")
	u.run("batch", "t.jsonl", "--on", on, "--max-cost", limit, "--out", "there").wants(8, "budget")
	doneHere, _ := cost("here")
	doneThere, there := cost("there")
	if doneHere != 3 || doneThere != 3 || there < 3.5*each-1e-9 || there > 4*each+1e-9 {
		t.Errorf("a task costs %g: %d are done here (%s), %d by the worker for %g", each, doneHere, here, doneThere, there)
	}
	// More money, and what was spent counts.
	more := fmt.Sprintf("%.5f", there+1.5*each)
	id := strings.Fields(strings.Split(u.run("runs", "list", "--on", on).wants(0).out, "\n")[1])[0]
	u.run("runs", "retry", id, "--cause", "budget", "--max-cost", more, "--on", on).wants(0, "3 runs wait")
	u.run("runs", "follow", id, "--on", on).wants(8, "2 of 6 tasks did not succeed")
}
