package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"adze/session"
	"adze/tool"
)

// states is a written Snapshots: its files are one number, which calls raise.
type states struct {
	mu    sync.Mutex
	now   int
	clock int64
	steps []string
	fails error
	jobs  []func(session.Window) // of windows that have not ended
	leave bool                   // the next call leaves something running
}

func (s *states) state() *session.State {
	s.clock++
	return &session.State{Root: "/w", Mark: fmt.Sprint(s.now), Time: s.clock}
}

func (s *states) Before(_ context.Context, r tool.Record) (*session.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, "before "+r.Tool+string(r.Call))
	return s.state(), s.fails
}

func (s *states) After(_ context.Context, r tool.Record, before session.State, late func(session.Window)) (session.Window, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, "after "+r.Tool+string(r.Call))
	w := session.Window{Before: before, Changes: []session.FileChange{{Path: fmt.Sprint("f", s.now)}, {Path: ".git/HEAD", Git: true}}}
	if s.leave {
		s.jobs, s.leave = append(s.jobs, late), false
		return w, nil
	}
	w.After = s.state()
	return w, nil
}

func (s *states) Lost(_ context.Context, before session.State) (session.Window, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, "lost "+before.Mark)
	return session.Window{Before: before, After: s.state()}, nil
}

// raise is a tool that changes the files.
func (s *states) raise(context.Context, string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now++
	s.steps = append(s.steps, "run")
	return "raised", nil
}

func (s *states) rig(t *testing.T, steps ...func(context.Context, func(session.Chunk) bool)) *rig {
	t.Helper()
	r := rigWith(t, []tool.Tool{noting("look", tool.Read, echo), noting("change", tool.Execute, s.raise), noting("still", tool.Execute, echo)}, steps...)
	r.config.Snapshots = s
	return r
}

// windows lists what the log says of files, as "type call before-after paths by".
func (r *rig) windows(t *testing.T) (out []string) {
	t.Helper()
	for _, e := range r.shelf.entries {
		var x session.Ended
		var w session.Window
		var err error
		switch e.Type {
		case session.IntentEntry:
			var i session.Intended
			if err := json.Unmarshal(e.Data, &i); err != nil {
				t.Fatal(err)
			}
			if i.Undo != nil {
				out = append(out, fmt.Sprintf("intent %s %s", i.Call, i.Undo.Mark))
			}
			continue
		case session.OutcomeEntry:
			if err = json.Unmarshal(e.Data, &x); x.Undo == nil {
				continue
			}
			w, w.Call = *x.Undo, x.Call
		case session.ChangedEntry:
			err = json.Unmarshal(e.Data, &w)
		default:
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		after := ""
		if w.After != nil {
			after = w.After.Mark
		}
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s-%s %d %s", e.Type, w.Call, w.Before.Mark, after, len(w.Changes), w.Hook+w.Author)))
	}
	return out
}

func TestACallThatMayChangeFilesRunsBetweenTwoStates(t *testing.T) {
	s := &states{}
	r := s.rig(t, says(call("c1", "look", `{"text":"a"}`), call("c2", "change", `{"text":"a"}`), call("c3", "still", `{"text":"a"}`)), says(text("end")))
	result := r.prompt(t, "go")
	wantCause(t, result, session.CauseDone)
	wantText(t, "steps", strings.Join(s.steps, ", "), "before changec2, run, after changec2, before stillc3, after stillc3")
	wantText(t, "log", strings.Join(r.windows(t), ", "), "intent c2 0, outcome c2 0-1 2, intent c3 1")
	wantText(t, "changed", strings.Join(result.Changed, " "), "f1")
	seen := 0
	for _, e := range r.events {
		if end, ok := e.(session.ToolEnd); ok && end.Window != nil {
			seen++
		}
	}
	if seen != 1 {
		t.Errorf("%d ends show what became of files, want that of c2", seen)
	}
}

func TestACallWhoseFilesCannotBeKeptDoesNotRun(t *testing.T) {
	s := &states{fails: errors.New("the disk of the store is full")}
	r := s.rig(t, says(call("c1", "change", `{"text":"a"}`)), says(text("end")))
	wantCause(t, r.prompt(t, "go"), session.CauseTool)
	got := strings.Join(r.outcomes(t), "")
	if !strings.HasPrefix(got, "c1 failed not run, because the files could not be kept as they are for undo: the disk of the store is full") || slices.Contains(s.steps, "run") {
		t.Errorf("%s; steps %s", got, s.steps)
	}
	wantText(t, "log", r.shelf.types(), "start message message outcome message end")
}

func TestWhatACallLeavesRunningKeepsItsWindowOpen(t *testing.T) {
	s := &states{leave: true}
	r := s.rig(t, says(call("c1", "change", `{"text":"a"}`)), says(text("end")))
	wantCause(t, r.prompt(t, "go"), session.CauseDone)
	wantText(t, "log", strings.Join(r.windows(t), ", "), "intent c1 0, outcome c1 0- 2")
	s.jobs[0](session.Window{Before: session.State{Mark: "0"}, After: s.state()})
	wantText(t, "log", strings.Join(r.windows(t), ", "), "intent c1 0, outcome c1 0- 2, changed c1 0-1 0")
	if _, err := session.Resume(t.Context(), r.config); err != nil {
		t.Fatal(err)
	}
	if got := len(r.windows(t)); got != 3 {
		t.Errorf("a window that has ended was ended again: %q", r.windows(t))
	}
}

func TestWindowsOfADeadProcessEndOnLoadByNobodyKnown(t *testing.T) {
	s := &states{now: 7}
	r := s.rig(t)
	state := func(mark string, at int64) *session.State { return &session.State{Root: "/w", Mark: mark, Time: at} }
	r.shelf.entries = []session.Entry{
		logged(t, session.StartEntry, session.Start{Version: "old"}),
		logged(t, session.MessageEntry, userSays("m1", "go")),
		logged(t, session.MessageEntry, asking("m2", "c1", "c2", "c3")),
		logged(t, session.IntentEntry, session.Intended{Record: tool.Record{Message: "m2", Call: "c1"}, Undo: state("1", 1)}),
		logged(t, session.OutcomeEntry, session.Ended{Outcome: answered("m2", "c1"), Undo: &session.Window{Before: *state("1", 1)}}),
		logged(t, session.IntentEntry, session.Intended{Record: tool.Record{Message: "m2", Call: "c2"}, Undo: state("2", 2)}),
	}
	for range 2 {
		if _, err := session.Resume(t.Context(), r.config); err != nil {
			t.Fatal(err)
		}
		want := "intent c1 1, outcome c1 1- 0, intent c2 2, outcome c2 2-7 0 unknown, changed c1 1-7 0 unknown"
		wantText(t, "log", strings.Join(r.windows(t), ", "), want)
	}
}

func TestWhatHooksChangeIsKeptByItself(t *testing.T) {
	s := &states{}
	r := s.rig(t, says(call("c1", "change", `{"text":"a"}`)), says(text("end")))
	r.config.Hooks = func(_ context.Context, m session.Moment) tool.Ruling {
		if m.Event == session.HookStart || m.Event == session.HookPrompt || m.Event == session.HookBefore {
			m.Starts()
			s.now++
		}
		return tool.Ruling{}
	}
	wantCause(t, r.prompt(t, "go"), session.CauseDone)
	want := "changed  0-1 2 session_start, changed  1-2 2 prompt, changed  2-3 2 before_tool, intent c1 3, outcome c1 3-4 2"
	wantText(t, "log", strings.Join(r.windows(t), ", "), want)
	if got := r.shelf.types(); !strings.HasPrefix(got, "start changed changed message") {
		t.Errorf("log %s", got)
	}
}
