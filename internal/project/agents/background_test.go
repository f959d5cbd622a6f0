package agents_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"adze/internal/project/agents"
	"adze/session"
	"adze/toolset"
)

// beside is a main conversation that starts tasks in the background, goes on, and hears of them
// when it would end.
func beside(tasks int, rest string) string {
	steps := "-- 1 --\n"
	for i := range tasks {
		steps += fmt.Sprintf("call task: {\"description\":\"%d\",\"prompt\":\"p\",\"background\":true}\n", i)
	}
	return steps + rest
}

// later lets the rig's tasks report to the conversation, whose turns wait for them.
func later(r *rig) *rig {
	r.config.Note = func(n session.Note) { r.parent.Note(n) }
	r.main.Await = func(ctx context.Context) bool {
		r.once.Do(func() { close(r.rests) })
		return r.agents.Await(ctx)
	}
	r.t.Cleanup(func() { r.agents.Close() })
	return r
}

// whenItRests is a tool that ends when the main conversation waits: the report comes after its
// answer, never before.
func (r *rig) whenItRests(context.Context, string, string, string) (string, error) {
	<-r.rests
	return "", nil
}

// reports are the entries of reports in a log, each as "status: text".
func (r *rig) reports(id session.ID) (out []string) {
	for _, e := range r.log(id) {
		if e.Type == session.ReportEntry {
			report := decoded[session.Report](r, e)
			out = append(out, fmt.Sprintf("%s: %s", report.Status, report.Text))
		}
	}
	return out
}

// told are the notes of tasks in a log.
func (r *rig) told(id session.ID) (out []string) {
	for _, e := range r.log(id) {
		if e.Type == session.NoteEntry {
			out = append(out, decoded[session.Message](r, e).Text())
		}
	}
	return out
}

func TestATaskInTheBackgroundReportsLater(t *testing.T) {
	r := later(newRig(t, 0, beside(1, `-- 2 --
expect task completed: works in the background
text: I go on.
-- 3 --
expect note: (?s)note from="task .*data to judge.*It is in a.go
text: It was in a.go.
-- explore: 0: 1 --
call read: {"text":"a.go"}
usage: input=100
-- explore: 0: 2 --
text: It is in a.go.
usage: input=1000
`)))
	r.run = r.whenItRests
	res := r.prompt(t.Context())
	r.wants("result", []any{res.Cause, res.Text}, "[done It was in a.go.]")
	r.wants("usage", res.Usage["script/m"].Total(), 1100)
	r.wants("calls", len(res.Calls), 2)
	child := r.subagents()
	if len(child) != 1 || !child[0].Background {
		t.Fatalf("subagents %+v", child)
	}
	r.contains("reports", r.reports("parent"), "completed: [Report of the subagent (task_id "+string(child[0].Session)+")")
	r.contains("notes", r.told("parent"), "It is in a.go.")
	if list := r.agents.Later(); len(list) != 1 || list[0].Running || list[0].ID != "task1" || !strings.Contains(list[0].Report, "It is in a.go") {
		t.Errorf("listed %+v", list)
	}
}

// Two work beside each other; the user ends one, and the turn ends with the report of both.
func TestOneOfTwoTasksInTheBackgroundIsEnded(t *testing.T) {
	r := later(newRig(t, 0, beside(2, `-- 2 --
text: I go on.
-- 3 --
expect note: (?s)task .*explore: 0\) did not finish: the person ended it
text: One.
-- 4 --
expect note: whole
text: Two.
-- explore: 0: 1 --
call read: {"text":"0"}
-- explore: 1: 1 --
call bash: {}
call read: {"text":"1"}
-- explore: 1: 2 --
text: whole
`)))
	release := make(chan struct{})
	r.run = func(ctx context.Context, name, _, text string) (string, error) {
		r.started <- ""
		if strings.HasSuffix(name, "1") {
			<-release
			return "", nil
		}
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	r.config.Changed = func() {
		for _, l := range r.agents.Later() {
			if l.ID == "task1" && !l.Running { // its report is with the conversation
				select {
				case <-release:
				default:
					close(release)
				}
			}
		}
	}
	go func() {
		<-r.started
		<-r.started
		<-r.rests
		for id, want := range map[string]bool{"task3": false, "task1": true} {
			if r.agents.End(id) != want {
				t.Errorf("End(%s) is not %v", id, want)
			}
		}
	}()
	// The other one ends only when the first has reported; which of them the model hears first is
	// then certain.
	res := r.prompt(t.Context())
	r.wants("cause", res.Cause, session.CauseDone)
	r.contains("reports", r.reports("parent"), "aborted: The task", "completed: ")
	r.contains("outcomes of the ended one", r.outcomes(r.subagents()[0].Session), "read aborted")
	if r.agents.End("task1") {
		t.Error("a task that has ended was ended")
	}
}

// Whoever leaves ends what works in the background; that is stored, and told when the session goes
// on.
func TestLeavingEndsTasksInTheBackground(t *testing.T) {
	r := later(newRig(t, 1, beside(2, `-- 2 --
text: bye
-- explore: 0: 1 --
call read: {"text":"0"}
-- explore: 1: 1 --
call read: {"text":"1"}
`)))
	r.main.Await = nil // a user is there
	r.waits()
	r.wants("text", r.prompt(t.Context()).Text, "bye")
	<-r.started // the other one waits for a place
	names := r.agents.Close()
	slices.Sort(names)
	r.wants("ended", names, "[explore: 0 explore: 1]")
	r.contains("reports", r.reports("parent"), "aborted: The task", "aborted: The task")
	r.wants("told", len(r.told("parent")), 0)
	if _, err := r.agents.Run(t.Context(), toolset.TaskRequest{Prompt: "p", Parent: "parent", Background: true}, nil); err == nil {
		t.Error("a task was started after that")
	}
	notes, err := agents.Unreported(t.Context(), r.store, "parent", r.log("parent"))
	if err != nil || len(notes) != 2 || !strings.Contains(notes[0].Text, "adze was left while it worked") {
		t.Errorf("%+v, %v", notes, err)
	}
	r.wants("reports", len(r.reports("parent")), 2)
}

// What a killed process left has one aborted report; a report that was stored and not told is told,
// one that was told is not.
func TestWhatAKilledProcessLeftIsToldOnce(t *testing.T) {
	r := later(newRig(t, 0, beside(1, `-- 2 --
text: bye
-- 3 --
expect prompt: (?s)adze ended while it worked.*and now
text: I look.
-- explore: 0: 1 --
call read: {"text":"0"}
`)))
	r.main.Await = nil
	r.waits()
	r.prompt(t.Context())
	<-r.started
	left := r.log("parent") // as kill -9 leaves it
	r.agents.Close()

	again := newRig(t, 0, "-- 1 --\nexpect prompt: and now\ntext: I look.\n")
	if err := again.store.Append(t.Context(), "parent", left...); err != nil {
		t.Fatal(err)
	}
	for round, want := range []int{1, 1, 0} { // found, not yet told, told
		notes, err := agents.Unreported(t.Context(), again.store, "parent", again.log("parent"))
		if err != nil || len(notes) != want {
			t.Fatalf("round %d: %+v, %v", round, notes, err)
		}
		again.wants("reports", len(again.reports("parent")), 1)
		if round != 1 {
			continue
		}
		s, err := session.Resume(t.Context(), again.main)
		if err != nil {
			t.Fatal(err)
		}
		s.Note(notes[0])
		again.wants("cause", s.Prompt(t.Context(), session.Input{Text: "and now"}).Cause, session.CauseDone)
		again.contains("notes", again.told("parent"), "adze ended while it worked")
	}
}

// A task that came to its end before its process was killed has its report, though the parent's log
// has none.
func TestATaskThatEndedBeforeTheKillHasItsReport(t *testing.T) {
	r := later(newRig(t, 0, beside(1, "-- 2 --\ntext: I wait.\n-- 3 --\nexpect note: found it\ntext: Thanks.\n-- explore: 0: 1 --\ntext: I found it.\n")))
	r.wants("cause", r.prompt(t.Context()).Cause, session.CauseDone)
	child := r.subagents()[0].Session
	again := newRig(t, 0, "-- 1 --\ntext: I look.\n")
	for _, e := range r.log("parent") {
		if e.Type == session.ReportEntry {
			break // the kill came before it
		}
		if err := again.store.Append(t.Context(), "parent", e); err != nil {
			t.Fatal(err)
		}
	}
	if err := again.store.Append(t.Context(), child, r.log(child)...); err != nil {
		t.Fatal(err)
	}
	notes, err := agents.Unreported(t.Context(), again.store, "parent", again.log("parent"))
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0].Text, "I found it.") || strings.Contains(notes[0].Text, "not known") {
		t.Errorf("%+v, %v", notes, err)
	}
	again.contains("reports", again.reports("parent"), "completed: ")
}

// An aborted turn does not wait, and what works in the background is not part of it.
func TestAnAbortedTurnWaitsForNobody(t *testing.T) {
	r := later(newRig(t, 0, beside(1, "-- 2 --\ntext: I wait.\n-- explore: 0: 1 --\ncall read: {\"text\":\"0\"}\n")))
	r.waits()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-r.started
		cancel(session.ErrInterrupted)
	}()
	r.wants("cause", r.prompt(ctx).Cause, session.CauseInterrupted)
	if list := r.agents.Later(); len(list) != 1 || !list[0].Running {
		t.Errorf("listed %+v", list)
	}
}

// A task that works in the background is not gone on with beside itself; when it has reported it
// is.
func TestATaskInTheBackgroundGoesOnByItsID(t *testing.T) {
	r := later(newRig(t, 0, `-- 1 --
-- explore: a: 1 --
call read: {"text":"a"}
-- explore: a: 2 --
text: first
-- explore: a: 3 --
text: second
`))
	release, changed := make(chan struct{}), make(chan struct{}, 9)
	r.config.Changed = func() { changed <- struct{}{} }
	r.run = func(context.Context, string, string, string) (string, error) {
		r.started <- ""
		<-release
		return "", nil
	}
	first, err := r.request(toolset.TaskRequest{Description: "a", Background: true})
	if err != nil || !first.Background {
		t.Fatalf("%+v, %v", first, err)
	}
	<-r.started
	if _, err := r.request(toolset.TaskRequest{ID: first.ID, Background: true}); err == nil {
		t.Error("it works twice")
	}
	close(release)
	for r.agents.Later()[0].Running {
		<-changed
	}
	second, err := r.request(toolset.TaskRequest{ID: first.ID})
	if err != nil || second.Text != "second" {
		t.Errorf("%+v, %v", second, err)
	}
}

// A long report joins the conversation cut; how much is left out is said.
func TestALongReportIsCut(t *testing.T) {
	r := later(newRig(t, 0, beside(1, "-- 2 --\ntext: x\n-- 3 --\nexpect note: bytes more; continue task_id\ntext: y\n-- explore: 0: 1 --\ncall read: {}\n-- explore: 0: 2 --\ntext: "+strings.Repeat("long é ", 5000)+"\n")))
	r.run = r.whenItRests
	r.wants("cause", r.prompt(t.Context()).Cause, session.CauseDone)
	if n := len(r.told("parent")[0]); n > 20<<10 {
		t.Errorf("the note has %d bytes", n)
	}
}
