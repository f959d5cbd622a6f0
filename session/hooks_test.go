package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"adze/session"
	"adze/tool"
)

// ear is hooks that do as a function says, and what they were told.
type ear struct {
	mu   sync.Mutex
	told []string
	say  func(m session.Moment) tool.Ruling
}

func (e *ear) hear(_ context.Context, m session.Moment) tool.Ruling {
	e.mu.Lock()
	e.told = append(e.told, strings.TrimSpace(m.Event+" "+m.Kind))
	e.mu.Unlock()
	m.OnHookEnd(session.HookRun{Hook: "h", Event: m.Event, Decision: "allow"})
	if e.say == nil {
		return tool.Ruling{}
	}
	return e.say(m)
}

func TestHooksAreToldOfASession(t *testing.T) {
	r := newRig(t, says(call("c1", "look", `{"text":"a"}`)), says(text("end")), says(text("more")))
	e := &ear{say: func(m session.Moment) tool.Ruling {
		if m.Event == session.HookStart || m.Event == session.HookAfter {
			m.Note("h", "said at "+m.Event)
		}
		return tool.Ruling{}
	}}
	r.config.Hooks = e.hear
	s := session.New(r.config)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "go"}), session.CauseDone)
	want := "session_start startup|prompt|before_tool|after_tool|stop|notification turn_end"
	if got := strings.Join(e.told, "|"); got != want {
		t.Errorf("told of %s, want %s", got, want)
	}
	wantText(t, "log", r.shelf.types(), "start hook hook note message message hook hook outcome note hook message end hook")
	if got := told(r.model.requests[1]); !slices.Equal(got, []string{"hook h", "hook h"}) {
		t.Errorf("the model was told of %q", got)
	}
	e.told = nil
	again, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	wantCause(t, again.Prompt(t.Context(), session.Input{Text: "and?"}), session.CauseDone)
	if got := strings.Join(e.told, "|"); got != "session_start resume|prompt|stop|notification turn_end" {
		t.Errorf("resumed, told of %s", got)
	}
	var run session.HookRun
	if err := json.Unmarshal(r.shelf.entries[1].Data, &run); err != nil || run.Hook != "h" || run.Event != session.HookStart {
		t.Errorf("the log holds %+v, %v", run, err)
	}
}

func TestAHookDeniesAPrompt(t *testing.T) {
	r := newRig(t, says(text("sent")))
	r.config.Hooks = (&ear{say: func(m session.Moment) tool.Ruling {
		if m.Event == session.HookPrompt && strings.Contains(m.Text, "key") {
			return tool.Ruling{Deny: "the hook h denied it: it holds a key"}
		}
		return tool.Ruling{}
	}}).hear
	s := session.New(r.config)
	res := s.Prompt(t.Context(), session.Input{Text: "my key is x"})
	if wantCause(t, res, session.CauseDenied); !strings.Contains(res.Message, "it holds a key") || len(r.model.requests) != 0 || len(s.History()) != 0 {
		t.Errorf("%+v, %d requests", res, len(r.model.requests))
	}
	wantText(t, "log", r.shelf.types(), "start hook hook end")
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "hello"}), session.CauseDone)
}

// A hook has a turn go on three times, and not a fourth.
func TestAHookHoldsATurn(t *testing.T) {
	r := newRig(t, says(text("1")), says(text("2")), says(text("3")), says(text("4")), says(text("5")))
	var held []int
	r.config.Hooks = (&ear{say: func(m session.Moment) tool.Ruling {
		if m.Event != session.HookStop {
			return tool.Ruling{}
		}
		held = append(held, m.Continuations)
		return tool.Ruling{Deny: "run the tests after " + m.Text}
	}}).hear
	res := session.New(r.config).Prompt(t.Context(), session.Input{Text: "go"})
	if wantCause(t, res, session.CauseDone); res.Text != "4" || fmt.Sprint(held) != "[0 1 2]" {
		t.Errorf("ended with %q, held %v", res.Text, held)
	}
	if got := asked(r.model.requests[1]); !strings.Contains(got[len(got)-1], "run the tests after 1") {
		t.Errorf("asked %q", got)
	}
}

// Only a summary that a user wants can be denied: the other one is needed.
func TestAHookDeniesASummary(t *testing.T) {
	r := newRig(t, says(text(long(700))), says(text("in short")), says(text("on"))).window(1000)
	var manual []bool
	r.config.Hooks = (&ear{say: func(m session.Moment) tool.Ruling {
		if m.Event != session.HookCompact {
			return tool.Ruling{}
		}
		manual = append(manual, m.Manual)
		return tool.Ruling{Deny: "not now"}
	}}).hear
	s := session.New(r.config)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "one"}), session.CauseDone)
	wantCause(t, s.Compact(t.Context(), "names"), session.CauseDenied)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "two " + long(60)}), session.CauseDone)
	if fmt.Sprint(manual) != "[true false]" || len(r.compactions(t)) != 1 {
		t.Errorf("told %v, %d summaries", manual, len(r.compactions(t)))
	}
}

// What a command makes of a prompt is what hooks see, and its calls are calls as any.
func TestHooksSeeWhatACommandMadeOfAPrompt(t *testing.T) {
	r := newRig(t, says(text("end")))
	e := &ear{say: func(m session.Moment) tool.Ruling {
		switch {
		case m.Event == session.HookBefore:
			return tool.Ruling{Deny: "not by a command"}
		case m.Event == session.HookPrompt && m.Text != "composed denied":
			t.Errorf("the prompt was %q", m.Text)
		}
		return tool.Ruling{}
	}}
	r.config.Hooks = e.hear
	res := session.New(r.config).Prompt(t.Context(), session.Input{Text: "/do", Compose: func(_ context.Context, run func(tool.RawCall) tool.Outcome) (string, error) {
		return "composed " + string(run(tool.RawCall{Name: "look", Arguments: `{"text":"a"}`, Origin: tool.FromCommand}).Status), nil
	}})
	wantCause(t, res, session.CauseDone)
	if got := strings.Join(e.told, "|"); got != "session_start startup|before_tool|prompt|stop|notification turn_end" {
		t.Errorf("told of %s", got)
	}
}
