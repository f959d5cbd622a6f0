package run_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// aside gives a task in the background and says what it hears of it.
func aside(steps string) string {
	return `-- 1 --
call task: {"description":"the job","prompt":"Do the job.","agent":"general","background":true}
-- 2 --
expect task completed: works in the background
text: I go on.
-- 3 --
save report: (?s)follow\.\]\n\n(.*?)\n</note>
text: It says: ${report}
` + steps
}

// Without a terminal a run ends when its tasks have reported, and what they use is its own.
func TestARunWaitsForItsTasksInTheBackground(t *testing.T) {
	u := newUser(t)
	r := u.run("-p", "--output-format=stream-json", "--permission-mode=edits", u.script(aside(`-- general: the job: 1 --
call write: {"path":"new.txt","content":"x\n"}
usage: input=100
-- general: the job: 2 --
expect write completed: created
text: Written.
usage: input=1000
`)), "go").wants(0)
	result := r.result()
	// A report that is there before the answer is told with the outcomes: then there is no third
	// step.
	if text := result["text"]; text != "It says: Written." && text != "I go on." || !strings.Contains(r.out, `"kind":"task"`) {
		t.Errorf("result %v", result)
	}
	if usage := fmt.Sprint(result["usage"]); !strings.Contains(usage, "input:1100") {
		t.Errorf("usage %s", usage)
	}
	u.run("audit", "show").wants(0, "general: the job · in the background", "· general: the job · completed ·")
	u.run("audit", "verify", "--all").wants(0, "2 sessions checked, all sound")
}

// leaves starts a run with a task in the background, whose command is marked with tag and has
// begun.
func (u *user) leaves(tag string) *started {
	u.t.Helper()
	s := u.start("-p", "--output-format", "stream-json", "--permission-mode", "yolo",
		u.script(aside("-- general: 1 --\ncall bash: {\"command\":\"echo up; sleep "+tag+"\"}\n")), "go")
	s.until(`"lines":1`)
	return s
}

// A killed run leaves nothing running, one aborted report, and a model that is told when the
// session goes on.
func TestAKilledTaskInTheBackground(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the census of processes needs /proc")
	}
	u := newUser(t)
	tag := fmt.Sprintf("8%d.9", os.Getpid())
	s := u.leaves(tag)
	waitFor(t, "a census that sees the command: without it this test could not fail", func() bool { return len(carrying(tag)) > 0 })
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // killed
	wantNobody(t, tag)
	for round := range 2 {
		r := u.run("-p", "--continue", "--output-format", "stream-json", u.script("-- 1 --\nexpect prompt: ^and now$\ntext: on\n"), "and now").wants(0)
		if told := strings.Contains(r.out, `"kind":"task"`); told != (round == 0) {
			t.Errorf("round %d: told %v: %s", round, told, r.out)
		}
	}
	u.run("audit", "show").wants(0, "general: the job · aborted")
	u.run("audit", "verify", "--all").wants(0, "2 sessions checked, all sound")
}

// An interrupted run ends its tasks, and says nothing that is not stored.
func TestAnInterruptEndsTasksInTheBackground(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the census of processes needs /proc")
	}
	u := newUser(t)
	tag := fmt.Sprintf("8%d.6", os.Getpid())
	s := u.leaves(tag)
	s.signal(syscall.SIGINT).wants(130)
	wantNobody(t, tag)
	u.run("audit", "show").wants(0, "general: the job · aborted")
}

// In the interface the user goes on while a task works; its report wakes an agent that rests, and
// leaving ends the others.
func TestABackgroundTaskWakesTheAgent(t *testing.T) {
	u := newUser(t)
	open := u.gate("gate")
	p := u.openPane(80, 24)
	p.adze(u.script(`-- 1 --
call task: {"description":"wait","prompt":"p","agent":"general","background":true}
call task: {"description":"for ever","prompt":"p","agent":"general","background":true}
-- 2 --
text: I rest.
-- 3 --
expect note: The gate is open
text: So it is.
-- general: wait: 1 --
call bash: {"command":"cat gate"}
-- general: wait: 2 --
text: The gate is open.
-- general: for ever: 1 --
call bash: {"command":"sleep 600"}
`), "--permission-mode=yolo")
	p.text("go")
	p.keys("Enter")
	p.sees("I rest.", "── 2 jobs")
	p.rests()
	p.text("half a thought")
	open()
	p.sees("told the model: ", "So it is.", "half a thought", "── 1 job")
	p.keys("C-u")
	p.text("/jobs")
	p.keys("Enter")
	p.sees("task1  general: wait", "completed after")
	p.keys("Escape")
	p.gone("background jobs")
	p.text("/quit")
	p.keys("Enter")
	p.sees("ended with the session", "general: for ever")
	p.restored(0)
	u.run("audit", "show").wants(0, "general: wait · completed", "general: for ever · aborted")
}
