package agents_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"adze/session"
	"adze/tool"
)

// nest makes a rig whose subagents may start others, to a depth.
func nest(t *testing.T, depth int, steps string) *rig {
	r := newRig(t, 0, steps)
	r.config.Depth = depth
	return r
}

// chain is a main conversation whose task starts one, and so on, each of the agent general. The
// last makes its calls.
func chain(depth int, last string) string {
	steps := one("general")
	for i := 1; i < depth; i++ {
		steps += fmt.Sprintf("-- %s: 1 --\ncall task: {\"description\":\"%d\",\"prompt\":\"p%d\",\"agent\":\"general\"}\n-- %s: 2 --\ntext: report %d\n", level(i), i+1, i+1, level(i), i)
	}
	return steps + last
}

// level names the subagent at a depth of the chain.
func level(depth int) string {
	path := "general: find it"
	for i := 2; i <= depth; i++ {
		path += fmt.Sprintf(" › general: %d", i)
	}
	return path
}

func TestASubagentOfASubagent(t *testing.T) {
	r := nest(t, 2, chain(2, `-- general: find it › general: 2: 1 --
expect prompt: ^p2$
call bash: {"text":"x"}
usage: input=100
-- general: find it › general: 2: 2 --
expect bash denied: not for general: find it › general: 2
text: deep
usage: input=1000
`))
	r.denied = "bash"
	res := r.prompt(t.Context())
	r.wants("cause", res.Cause, session.CauseDone)
	r.contains("outcomes", r.outcomes("parent"), "report 1")
	child := r.subagents()
	if len(child) != 1 {
		t.Fatalf("subagents %v", child)
	}
	r.contains("its outcomes", r.outcomes(child[0].Session), "task completed : [Report of the subagent (task_id ")
	grandchild := r.linked(child[0].Session)
	if len(grandchild) != 1 {
		t.Fatalf("its subagents %v", grandchild)
	}
	start := r.start(grandchild[0].Session)
	r.wants("its start", []any{start.Parent == child[0].Session, start.Agent, start.Call}, "[true general: find it › general: 2 call_1_1]")
	r.wants("ends", r.ends(), "[call_1_1 call_1_1/call_1_1 call_1_1 general: find it call_1_1/call_1_1/call_1_1 call_1_1/call_1_1 general: find it › general: 2]")
	r.wants("usage", res.Usage["script/m"].Total(), 1133)
	r.wants("calls", res.Calls, map[string]map[tool.Status]int{"bash": {tool.Denied: 1}, "task": {tool.Completed: 2}})
	if len(res.Denied) != 1 {
		t.Fatalf("denied %+v", res.Denied)
	}
	r.wants("denied", []any{res.Denied[0].Call, res.Denied[0].Agent}, "[call_1_1/call_1_1/call_1_1 general: find it › general: 2]")
}

// The deepest subagent has no task tool, whatever it is asked for, and no number in the
// configuration makes it deeper.
func TestHowDeepSubagentsStartOthers(t *testing.T) {
	for depth, most := range map[int]int{0: 1, 1: 1, 2: 2, 3: 3, 9: 3} {
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			last := level(most)
			r := nest(t, depth, chain(most, fmt.Sprintf("-- %s: 1 --\ncall task: {\"description\":\"x\",\"prompt\":\"p\"}\n-- %s: 2 --\nexpect task invalid: there is no tool \"task\"\ntext: the end\n", last, last)))
			r.wants("cause", r.prompt(t.Context()).Cause, session.CauseDone)
			n := 0
			for at := session.ID("parent"); len(r.linked(at)) > 0; at = r.linked(at)[0].Session {
				n++
			}
			r.wants("depth", n, most)
		})
	}
}

// Whoever starts others keeps enough of its model requests to report, and all together make no more
// than one may.
func TestNestedTasksAreBoundedTogether(t *testing.T) {
	steps := one("general")
	for i := 1; i <= 20; i++ { // each asks the other for ever
		steps += fmt.Sprintf("-- general: find it: %d --\ncall task: {\"description\":\"2\",\"prompt\":\"p\",\"agent\":\"general\"}\n", i)
		steps += fmt.Sprintf("-- general: find it › general: 2: %d --\ncall read: {\"text\":\"%d\"}\n", i, i)
	}
	r := nest(t, 2, steps)
	r.config.Steps = 8
	res := r.prompt(t.Context())
	r.wants("cause", res.Cause, session.CauseDone)
	r.wants("model requests", res.Steps, 2+8)
	child := r.subagents()[0].Session
	got := r.outcomes(child)
	if !strings.Contains(got[0], "it made 5 model requests, the most a task may") {
		t.Errorf("its first task: %q", got[0])
	}
	r.contains("its outcomes", got, "task failed limit", "task failed limit: the task did not finish: you have too few model requests left for a task; report what you have",
		"task failed limit: the task did not finish: you have too few model requests left for a task; report what you have")
}

// A place is held while a subagent waits for its own: at another depth there are others.
func TestNestedTasksNeverWaitForTheirOwnPlace(t *testing.T) {
	r := newRig(t, 1, chain(3, fmt.Sprintf("-- %s: 1 --\ntext: deep\n", level(3))))
	r.config.Depth = 3
	r.wants("cause", r.prompt(t.Context()).Cause, session.CauseDone)
	r.contains("outcomes", r.outcomes("parent"), "report 1")
}

func TestAnAbortEndsAllDepths(t *testing.T) {
	r := nest(t, 3, chain(3, fmt.Sprintf("-- %s: 1 --\ncall read: {\"text\":\"a\"}\n", level(3))))
	r.waits()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-r.started
		cancel(session.ErrInterrupted)
	}()
	r.wants("cause", r.prompt(ctx).Cause, session.CauseInterrupted)
	r.contains("outcomes", r.outcomes("parent"), "task aborted aborted: ")
	at := session.ID("parent")
	for len(r.linked(at)) > 0 {
		at = r.linked(at)[0].Session
		entries := r.log(at)
		r.wants("last entry", entries[len(entries)-1].Type, session.EndEntry)
	}
	r.contains("deepest outcomes", r.outcomes(at), "read aborted aborted: aborted: interrupted")
}

func TestOneCallOfANestedSubagentCanBeAborted(t *testing.T) {
	r := nest(t, 2, chain(2, fmt.Sprintf("-- %s: 1 --\ncall read: {\"text\":\"a\"}\n-- %s: 2 --\nexpect read aborted: the person aborted\ntext: without it\n", level(2), level(2))))
	r.waits()
	go func() {
		<-r.started
		if !r.agents.CancelCall("call_1_1/call_1_1/call_1_1") {
			t.Error("the call does not run")
		}
	}()
	r.wants("cause", r.prompt(t.Context()).Cause, session.CauseDone)
	r.contains("outcomes", r.outcomes("parent"), "report 1")
}
