package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// delegating is a conversation that gives one task and repeats what came back.
func delegating(kind, steps string) string {
	return `-- 1 --
call task: {"description":"the job","prompt":"Do the job.","agent":"` + kind + `"}
usage: input=10 output=1
-- 2 --
save report: (?s)follow\.\]\n\n(.*)
text: It says: ${report}
usage: input=1
` + steps
}

// stored are the lines of a listing of sessions.
func (u *user) stored(all bool) []string {
	u.t.Helper()
	args := []string{"session", "list"}
	if all {
		args = append(args, "--all")
	}
	return strings.Split(strings.TrimSpace(u.run(args...).wants(0).out), "\n")
}

func TestWhatASubagentDoesIsMarkedInTheStream(t *testing.T) {
	u := newUser(t)
	r := u.run("-p", "--output-format=stream-json", "--permission-mode=edits", u.script(delegating("general", `-- general: the job: 1 --
expect prompt: ^Do the job\.$
call write: {"path":"new.txt","content":"x\n"}
call bash: {"command":"touch other"}
usage: input=100 output=10
-- general: the job: 2 --
expect write completed: created
expect bash denied: not allowed; add --allow
text: One of two.
`)), "go").wants(0)
	var marked []string
	for _, l := range r.lines() {
		name := fmt.Sprint(l["type"])
		if l["name"] == "task" || !slices.Contains([]string{"tool_start", "tool_end", "ask"}, name) {
			if asked := name == "request" && l["agent"] == "general: the job"; l["parent"] != nil && !asked {
				t.Errorf("marked: %v", l)
			}
			continue
		}
		marked = append(marked, fmt.Sprint(name, " ", l["name"], " ", l["call"], " ", l["parent"], " ", l["agent"]))
	}
	want := []string{
		"tool_start write call_1_1/call_1_1 call_1_1 general: the job",
		"tool_end write call_1_1/call_1_1 call_1_1 general: the job",
		"ask bash call_1_1/call_1_2 call_1_1 general: the job",
		"tool_start bash call_1_1/call_1_2 call_1_1 general: the job",
		"tool_end bash call_1_1/call_1_2 call_1_1 general: the job",
	}
	if !slices.Equal(marked, want) {
		t.Errorf("lines of the subagent:\n%s\nwant\n%s", strings.Join(marked, "\n"), strings.Join(want, "\n"))
	}
	result := r.result()
	if result["text"] != "It says: One of two." || fmt.Sprint(result["files_changed"]) != "[new.txt]" || result["turns"] != 4.0 {
		t.Errorf("result %v", result)
	}
	denied := fmt.Sprint(result["denied"])
	for _, part := range []string{"agent:general: the job", "call:call_1_1/call_1_2", "target:touch other"} {
		if !strings.Contains(denied, part) {
			t.Errorf("denied %s has no %s", denied, part)
		}
	}
	u.run("audit", "verify", "--all").wants(0, "2 sessions checked, all sound")
}

func TestASubagentHasTheRightsOfItsParent(t *testing.T) {
	write := "-- general: 1 --\ncall write: {\"path\":\"new.txt\",\"content\":\"x\\n\"}\n-- general: 2 --\n"
	for name, c := range map[string]struct {
		flags []string
		steps string
	}{
		"plan":  {[]string{"--permission-mode=plan"}, write + "expect write denied: plan\ntext: no\n"},
		"rules": {[]string{"--permission-mode=yolo", "--deny", "write(work:**)"}, write + "expect write denied: .\ntext: no\n"},
		"tools": {[]string{"--permission-mode=yolo", "--tools", "task,read,bash"}, write + "expect write invalid: use one of: read, bash$\ntext: no\n"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.run(append(c.flags, "-p", u.script(delegating("general", c.steps)), "go")...).wants(0, "It says: no")
			if _, err := os.Stat(filepath.Join(u.dir, "new.txt")); err == nil {
				t.Error("the file was written")
			}
		})
	}
}

func TestSubagentsAreHiddenAmongSessions(t *testing.T) {
	u := newUser(t)
	u.run("-p", u.script(delegating("explore", "-- explore: 1 --\ntext: found\n")), "find it").wants(0, "It says: found")
	if got := u.stored(false); len(got) != 1 || !strings.Contains(got[0], "find it") {
		t.Fatalf("sessions %q", got)
	}
	parent, _, _ := strings.Cut(u.stored(false)[0], " ")
	child := ""
	for _, l := range u.stored(true) {
		if strings.Contains(l, "explore: the job (subagent of "+parent+")") {
			child, _, _ = strings.Cut(l, " ")
		}
	}
	if child == "" {
		t.Fatalf("--all shows no subagent: %q", u.stored(true))
	}
	u.run("audit", "show").wants(0, "session "+parent, "agent "+child+" · explore: the job")
	u.run("audit", "show", child).wants(0, "session "+child, ", subagent ", " of the session "+parent)
	u.run("sessions", "verify", child).wants(0, "as they were written")

	model := u.script("-- 1 --\ntext: on\n")
	u.run("-p", "--resume", child, model, "and?").wants(2, "subagent of the session "+parent, "--fork")
	if got := u.run("-p", "--continue", "--output-format=json", model, "and?").wants(0).result(); got["session"] != parent {
		t.Errorf("--continue went on with %v, want %s", got["session"], parent)
	}
	copied := u.run("-p", "--fork", "--resume", child, "--output-format=json", model, "and?").wants(0).result()["session"]
	if !slices.ContainsFunc(u.stored(false), func(l string) bool { return strings.HasPrefix(l, fmt.Sprint(copied)) }) {
		t.Errorf("the copy %v is not among %q", copied, u.stored(false))
	}
	u.run("audit", "show", fmt.Sprint(copied)).wants(0, ", a copy of the session "+child+"\n")
}

func TestATaskGoesOnInTheNextRun(t *testing.T) {
	u := newUser(t)
	steps := `-- 1 --
call task: {"description":"the job","prompt":"Do it."}
-- 2 --
text: done
-- explore: 1 --
text: half
`
	u.run("-p", u.script(steps), "go").wants(0, "done")
	var child string
	for _, l := range u.stored(true) {
		if strings.Contains(l, "subagent") {
			child, _, _ = strings.Cut(l, " ")
		}
	}
	again := `-- 1 --
call task: {"description":"the rest","prompt":"And the rest?","task_id":"` + child + `"}
-- 2 --
expect task completed: whole
text: all
-- explore: the job: 1 --
expect prompt: And the rest
text: whole
`
	u.run("-p", "--continue", u.script(again), "more").wants(0, "all")
	u.run("audit", "verify", "--all").wants(0, "2 sessions checked, all sound")
}

// What a killed adze left of a subagent is in two sound logs, and its parent is told.
func TestAKilledSubagent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the census of processes needs /proc")
	}
	u := newUser(t)
	tag := fmt.Sprintf("8%d.7", os.Getpid())
	s := u.start("-p", "--output-format", "stream-json", "--permission-mode", "yolo",
		u.script(delegating("general", "-- general: 1 --\ncall bash: {\"command\":\"echo up; sleep "+tag+"\"}\n")), "go")
	s.until(`"lines":1`)
	waitFor(t, "a census that sees the command: without it this test could not fail", func() bool { return len(carrying(tag)) > 0 })
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // killed
	wantNobody(t, tag)
	u.run("audit", "verify", "--all").wants(0, "2 sessions checked, all sound")
	r := u.run("-p", "--continue", "--output-format", "stream-json", u.script("-- 1 --\nexpect prompt: ^and now$\ntext: unknown\n"), "and now").wants(0)
	if got := r.result()["text"]; got != "unknown" {
		t.Errorf("text = %v", got)
	}
	u.run("audit", "show").wants(0, "call  task aborted", "agent ")
	u.run("audit", "verify", "--all").wants(0, "2 sessions checked, all sound")
}

func TestSubagentsMayUseAnotherModel(t *testing.T) {
	u := newUser(t)
	small := filepath.Join(u.home, "small.txtar")
	if err := os.WriteFile(small, []byte("# small\n-- 1 --\n-- explore: 1 --\ntext: cheap\nusage: input=1000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.configure(`{"task_model": "script/` + small + `", "models": {
		"script/` + small + `": {"price": {"input": 1, "output": 1}}, "script/*": {"price": {"input": 100, "output": 100}}}}`)
	model := u.script(delegating("explore", ""))
	got := u.run("-p", "--output-format=json", model, "go").wants(0).result()
	usage := fmt.Sprint(got["usage"])
	if !strings.Contains(usage, "script/"+small+":map[input:1000 output:0]") || fmt.Sprint(got["cost_usd"]) != "0.0022" {
		t.Errorf("usage %s, cost %v", usage, got["cost_usd"])
	}
	u.configure(`{"task_model": "acme/large"}`)
	u.run("-p", model, "go").wants(3, `no provider "acme"`)
}

func TestALimitOfTheRunHoldsForSubagents(t *testing.T) {
	u := newUser(t)
	steps := "-- explore: 1 --\ncall list: {}\n-- explore: 2 --\ncall list: {}\n-- explore: 3 --\ntext: never\n"
	r := u.run("-p", "--max-turns", "3", "--output-format=json", u.script(delegating("explore", steps)), "go").wants(6, "3 model requests")
	if got := r.result(); got["turns"] != 3.0 {
		t.Errorf("turns %v", got["turns"])
	}
}

func TestTasksAreOfferedToSmallModelsOnlyWhereAModelIsNamedForThem(t *testing.T) {
	llama := newLlama(t)
	u := newUser(t)
	u.env = append(u.env, "OLLAMA_HOST="+strings.TrimPrefix(llama.URL, "http://"))
	offered := func() bool {
		llama.mu.Lock()
		llama.first = nil
		llama.mu.Unlock()
		u.run("-p", "--model", "ollama/coder:7b", "--max-turns", "1", "hi")
		llama.mu.Lock()
		defer llama.mu.Unlock()
		if len(llama.first) == 0 {
			t.Fatal("no request")
		}
		return strings.Contains(string(llama.first), `"name":"task"`)
	}
	if offered() {
		t.Error("task is offered")
	}
	u.configure(`{"task_model": "ollama/coder:7b"}`)
	if !offered() {
		t.Error("task is not offered although a model is named for it")
	}
}
