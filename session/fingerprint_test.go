package session_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"adze/session"
	"adze/tool"
)

// prompts lists the prompt hashes in the log: of answers, and with a ! of requests that left none.
func (s *shelf) prompts(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, e := range s.entries {
		var m struct {
			Role   session.Role `json:"role"`
			Prompt string       `json:"prompt_sha256"`
		}
		if err := json.Unmarshal(e.Data, &m); err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Type == session.RequestEntry:
			out = append(out, "!"+m.Prompt)
		case e.Type == session.MessageEntry && m.Role == session.Assistant:
			out = append(out, m.Prompt)
		}
	}
	return out
}

func TestThePromptHashCoversAllThatAModelSees(t *testing.T) {
	seen := map[string]string{}
	for _, c := range []struct {
		name   string
		change func(*rig, *session.Input)
		same   bool
	}{
		{"as it is", func(*rig, *session.Input) {}, false},
		{"once more", func(*rig, *session.Input) {}, true},
		{"another session", func(r *rig, _ *session.Input) { r.config.ID = "s2" }, true},
		{"another system prompt", func(r *rig, _ *session.Input) { r.config.Start.System += "." }, false},
		{"fewer tools", func(r *rig, _ *session.Input) {
			r.config.Tools = r.set.Only(func(d tool.Definition) bool { return d.Name != "finish" })
		}, false},
		{"another prompt", func(_ *rig, in *session.Input) { in.Text = "stop" }, false},
		{"an attachment", func(_ *rig, in *session.Input) { in.Attachments = []tool.Attachment{{Name: "a", Data: []byte("x")}} }, false},
		{"its text in the name", func(_ *rig, in *session.Input) { in.Attachments = []tool.Attachment{{Name: "ax"}} }, false},
	} {
		r := newRig(t, says(text("yes")))
		in := session.Input{Text: "go"}
		c.change(r, &in)
		wantCause(t, session.New(r.config).Prompt(t.Context(), in), session.CauseDone)
		hashes := r.shelf.prompts(t)
		if len(hashes) != 1 || len(hashes[0]) != 64 {
			t.Fatalf("%s: hashes %q", c.name, hashes)
		}
		if before, known := seen[hashes[0]]; known != c.same {
			t.Errorf("%s: known = %v (%s), want %v", c.name, known, before, c.same)
		}
		seen[hashes[0]] = c.name
	}
}

// A session that goes on in another process asks the same question as one that stayed.
func TestThePromptHashSurvivesAResume(t *testing.T) {
	steps := []func(context.Context, func(session.Chunk) bool){
		says(text("a"), call("c1", "look", `{"text":"x"}`)), says(text("b")), says(text("c")),
	}
	whole := newRig(t, steps...)
	s := session.New(whole.config)
	s.Prompt(t.Context(), session.Input{Text: "one"})
	s.Prompt(t.Context(), session.Input{Text: "two"})

	parted := newRig(t, steps...)
	session.New(parted.config).Prompt(t.Context(), session.Input{Text: "one"})
	again, err := session.Resume(t.Context(), parted.config)
	if err != nil {
		t.Fatal(err)
	}
	again.Prompt(t.Context(), session.Input{Text: "two"})
	want, got := whole.shelf.prompts(t), parted.shelf.prompts(t)
	if len(want) != 3 || strings.Join(want, " ") != strings.Join(got, " ") {
		t.Errorf("hashes:\n got %q\nwant %q", got, want)
	}
	if want[0] == want[1] || want[1] == want[2] {
		t.Error("a longer conversation has the hash of a shorter one")
	}
}

func TestARequestThatLeavesNoMessageIsInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := only(session.Done{Err: &session.ProviderError{Kind: session.ServerError, Message: "overloaded"}, Usage: session.Usage{Input: 7}})
		r := newRig(t, down, says(text("yes")))
		wantCause(t, r.prompt(t, "go"), session.CauseDone)
		wantText(t, "log", r.shelf.types(), "start message request message end")
		if got := r.shelf.prompts(t); got[0] != "!"+got[1] {
			t.Errorf("hashes of the failed and the repeated request: %q", got)
		}
		if !r.shelf.has(session.RequestEntry, `"attempt":1,"provider":"fake","model":"m"`) || !r.shelf.has(session.RequestEntry, `"kind":"server"`) {
			t.Error("the entry does not say what failed")
		}
	})
}

func TestASilentAnswerIsInTheLog(t *testing.T) {
	r := newRig(t, says(), says())
	r.prompt(t, "go")
	wantText(t, "log", r.shelf.types(), "start message request message request end")
}

// What is not known about a call that a crash cut off stays open; what was decided about it is
// kept.
func TestAnUnknownOutcomeKeepsItsDecision(t *testing.T) {
	r := newRig(t, says(call("c1", "change", `{"text":"x"}`), call("c2", "change", `{"text":"y"}`)))
	r.shelf.failAt = 4 // start message message intent
	r.prompt(t, "go")
	r.shelf.failAt = 0
	if _, err := session.Resume(t.Context(), r.config); err != nil {
		t.Fatal(err)
	}
	var records []tool.Record
	for _, e := range r.shelf.entries {
		var o tool.Outcome
		if e.Type == session.OutcomeEntry && json.Unmarshal(e.Data, &o) == nil {
			records = append(records, o.Record)
		}
	}
	if len(records) != 2 || len(records[0].Decisions) != 1 || !records[0].Decisions[0].Allow || records[0].OutputHash == "" {
		t.Fatalf("records = %+v", records)
	}
	if second := records[1]; second.Session != "s1" || len(second.Decisions) != 0 || string(second.Args) != `{}` || second.Status != tool.Aborted {
		t.Errorf("the call that had not begun: %+v", second)
	}
}
