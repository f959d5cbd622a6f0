package session_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"adze/session"
	"adze/tool"
)

// logged makes entries as a crashed process left them.
func logged(t *testing.T, kind session.EntryType, data any) session.Entry {
	t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return session.Entry{Type: kind, Data: raw}
}

func asking(id string, calls ...string) session.Message {
	m := session.Message{ID: id, Role: session.Assistant}
	for _, c := range calls {
		m.Parts = append(m.Parts, session.Part{Kind: session.CallPart, Call: &tool.RawCall{ID: tool.CallID(c), Name: "change", Arguments: "{}"}})
	}
	return m
}

func userSays(id, s string) session.Message {
	return session.Message{ID: id, Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: s}}}
}

func answered(message, call string) tool.Outcome {
	return tool.Outcome{Call: tool.CallID(call), Tool: "change", Status: tool.Completed, Output: "ok",
		Record: tool.Record{Message: message, Call: tool.CallID(call)}}
}

func TestCallsWithoutOutcomeBecomeAbortedExactlyOnce(t *testing.T) {
	r := newRig(t, says(text("I see")))
	r.shelf.entries = []session.Entry{
		logged(t, session.StartEntry, session.Start{Version: "old", System: "the old prompt"}),
		logged(t, session.MessageEntry, userSays("m1", "go")),
		logged(t, session.MessageEntry, asking("m2", "c1", "c2", "c3")),
		logged(t, session.IntentEntry, tool.Record{Message: "m2", Call: "c1"}),
		logged(t, session.OutcomeEntry, answered("m2", "c1")),
		logged(t, session.IntentEntry, tool.Record{Message: "m2", Call: "c2"}),
	}
	s, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"c1 completed ok",
		"c2 aborted outcome unknown: adze ended while this ran; look before you run it again",
		"c3 aborted aborted before it ran",
	}
	if got := r.outcomes(t); !slices.Equal(got, want) {
		t.Errorf("outcomes = %v, want %v", got, want)
	}
	if _, err := session.Resume(t.Context(), r.config); err != nil {
		t.Fatal(err)
	}
	if got := r.outcomes(t); len(got) != 3 {
		t.Errorf("the second resume added outcomes: %v", got)
	}
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "and now?"}), session.CauseDone)
	request := r.model.requests[0]
	wantText(t, "system", request.System, "the old prompt")
	if got := len(request.Messages); got != 4 {
		t.Errorf("%d messages were sent, want user, calls, outcomes, user", got)
	}
}

// A command's part, and what the user runs, begin before there is a message that they belong to.
func TestCallsOfNoMessageAreClosedExactlyOnce(t *testing.T) {
	r := newRig(t, says(text("fine")))
	begin := func(message, call string, o tool.Origin) session.Entry {
		return logged(t, session.IntentEntry, tool.Record{Message: message, Call: tool.CallID(call), Tool: "change", Origin: o})
	}
	r.shelf.entries = []session.Entry{
		logged(t, session.StartEntry, session.Start{Version: "old"}),
		begin("m1", "command-m1-1", tool.FromCommand),
		logged(t, session.OutcomeEntry, answered("m1", "command-m1-1")),
		begin("m1", "command-m1-2", tool.FromCommand),
		begin("m2", "person-m2", tool.Native),
	}
	s, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	unknown := " aborted outcome unknown: adze ended while this ran; look before you run it again"
	want := []string{"command-m1-1 completed ok", "command-m1-2" + unknown, "person-m2" + unknown}
	if got := r.outcomes(t); !slices.Equal(got, want) {
		t.Errorf("outcomes = %v, want %v", got, want)
	}
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "hi"}), session.CauseDone)
	if id := s.History()[0].ID; id != "m3" || len(s.History()) != 2 {
		t.Errorf("the next message is %s of %d; its calls would be taken for those of an earlier one", id, len(s.History()))
	}
	if _, err := session.Resume(t.Context(), r.config); err != nil {
		t.Fatal(err)
	}
	if got := r.outcomes(t); len(got) != 3 {
		t.Errorf("the second resume added outcomes: %v", got)
	}
}

func TestAnotherModelGetsItsOwnSystemPrompt(t *testing.T) {
	r := newRig(t, says(text("hi")))
	r.shelf.entries = []session.Entry{logged(t, session.StartEntry, session.Start{Version: "old", Model: "other/m", System: "for the other"})}
	s, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "hi"}), session.CauseDone)
	wantText(t, "system", r.model.requests[0].System, "you are a test")
}

func TestTheSameIDInTwoMessagesIsTwoCalls(t *testing.T) {
	r := newRig(t)
	r.shelf.entries = []session.Entry{
		logged(t, session.StartEntry, session.Start{Version: "old"}),
		logged(t, session.MessageEntry, asking("m1", "call_0")),
		logged(t, session.OutcomeEntry, answered("m1", "call_0")),
		logged(t, session.MessageEntry, asking("m3", "call_0")),
	}
	if _, err := session.Resume(t.Context(), r.config); err != nil {
		t.Fatal(err)
	}
	want := []string{"call_0 completed ok", "call_0 aborted aborted before it ran"}
	if got := r.outcomes(t); !slices.Equal(got, want) {
		t.Errorf("outcomes = %v, want %v", got, want)
	}
}

func TestResumeKeepsUnfinishedText(t *testing.T) {
	r := newRig(t)
	half := session.Message{ID: "m2", Role: session.Assistant, Stop: session.StopAborted, Parts: []session.Part{{Kind: session.TextPart, Text: "half"}}}
	r.shelf.entries = []session.Entry{
		logged(t, session.StartEntry, session.Start{Version: "old"}),
		logged(t, session.MessageEntry, userSays("m1", "go")),
		logged(t, session.PartialEntry, half),
	}
	s, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.History(); len(got) != 2 || got[1].Text() != "half" {
		t.Errorf("history = %+v", got)
	}
}

// TestUnfinishedTextStaysInLaterResumes: the model read it when the session went on, and goes on
// reading it.
func TestUnfinishedTextStaysInLaterResumes(t *testing.T) {
	r := newRig(t, says(text("on")), says(text("and on")))
	r.shelf.entries = []session.Entry{
		logged(t, session.StartEntry, session.Start{Version: "old"}),
		logged(t, session.MessageEntry, userSays("m1", "go")),
		logged(t, session.FragmentEntry, session.Fragment{Message: "m2", Kind: session.TextPart, Text: "half"}),
	}
	for range 2 {
		s, err := session.Resume(t.Context(), r.config)
		if err != nil {
			t.Fatal(err)
		}
		wantCause(t, s.Prompt(t.Context(), session.Input{Text: "go on"}), session.CauseDone)
	}
	second := r.model.requests[1].Messages
	if len(second) != 5 || second[1].Text() != "half" || second[1].ID != "m2" {
		t.Errorf("the second resume sends %+v", second)
	}
}

func TestNewMessagesNeverRepeatAnID(t *testing.T) {
	r := newRig(t, says(text("a"), call("c1", "look", "{}")), says(text("b")), says(text("c")))
	wantCause(t, r.prompt(t, "one"), session.CauseDone)
	s, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "two"}), session.CauseDone)
	seen := map[string]bool{}
	for _, m := range s.History() {
		if seen[m.ID] {
			t.Errorf("message id %s is used twice", m.ID)
		}
		seen[m.ID] = true
	}
	if len(seen) != 6 {
		t.Errorf("%d messages, want 6", len(seen))
	}
}

func TestResumeNamesADamagedEntry(t *testing.T) {
	r := newRig(t)
	r.shelf.entries = []session.Entry{logged(t, session.StartEntry, session.Start{}), {Type: session.MessageEntry, Data: []byte(`{"id":`)}}
	_, err := session.Resume(t.Context(), r.config)
	if err == nil || !strings.Contains(err.Error(), "entry 2 (message) is damaged") {
		t.Fatalf("err = %v", err)
	}
}

func TestResumeOfAnUnknownSession(t *testing.T) {
	r := newRig(t)
	if _, err := session.Resume(context.Background(), r.config); err != session.ErrNotFound {
		t.Fatalf("err = %v, want ErrNotFound", err)
	}
}

func TestTitleIsTheFirstLine(t *testing.T) {
	h := session.Head{First: logged(t, session.MessageEntry, userSays("m1", "  fix the build\nplease")).Data}
	wantText(t, "title", h.Title(), "fix the build")
	long := session.Head{First: logged(t, session.MessageEntry, userSays("m1", strings.Repeat("ä", 100))).Data}
	if got := []rune(long.Title()); len(got) != 72 || got[71] != '…' {
		t.Errorf("title = %q", string(got))
	}
	wantText(t, "damaged", session.Head{First: []byte("{")}.Title(), "")
}

// TestAnOwnCommandIsKnownAfterAResume: the message tells the model of it, the outcome shows it to
// the user.
func TestAnOwnCommandIsKnownAfterAResume(t *testing.T) {
	r := rigWith(t, []tool.Tool{noting("look", tool.Read, func(context.Context, string) (string, error) { return "seen", nil })})
	call := tool.RawCall{Name: "look", Arguments: `{"text":"a"}`}
	wantCause(t, session.New(r.config).Run(t.Context(), call, func(tool.Outcome) string { return "I looked" }), session.CauseDone)
	s, err := session.Resume(t.Context(), r.config)
	if err != nil {
		t.Fatal(err)
	}
	h := s.History()
	if len(h) != 1 || h[0].Text() != "I looked" {
		t.Fatalf("the conversation is %+v", h)
	}
	if o, ok := s.OwnCommandOutcome(h[0].OwnCall); !ok || o.Output != "seen" || o.Tool != "look" {
		t.Errorf("what it came to: %v, %+v", ok, o)
	}
	if _, ok := s.OwnCommandOutcome(""); ok {
		t.Error("a message of nobody has an outcome")
	}
}

// TestACallThatNeverRanSaysWhatItWasAbout: what redaction exposes of it, and no more.
func TestACallThatNeverRanSaysWhatItWasAbout(t *testing.T) {
	type args struct {
		Text  string `json:"text" doc:"x"`
		Other string `json:"other,omitempty" doc:"x"`
	}
	r := rigWith(t, []tool.Tool{tool.Define("change", tool.Config[args, noteMeta]{
		Description: "change", Permissions: tool.Requires(tool.Write), Redact: tool.Expose("text"),
		Needs: func(args) []tool.Need { t.Error("it was begun"); return nil },
		Run: func(context.Context, tool.Context[noteMeta], args) (tool.Result[noteMeta], error) {
			t.Error("it ran")
			return tool.Result[noteMeta]{}, nil
		},
	})})
	m := asking("m1", "c1")
	m.Parts[0].Call.Arguments = `{"text":"the wish","other":"a secret"}`
	r.shelf.entries = []session.Entry{logged(t, session.StartEntry, session.Start{Version: "old"}), logged(t, session.MessageEntry, m)}
	if _, err := session.Resume(t.Context(), r.config); err != nil {
		t.Fatal(err)
	}
	var o tool.Outcome
	if err := json.Unmarshal(r.shelf.entries[len(r.shelf.entries)-1].Data, &o); err != nil {
		t.Fatal(err)
	}
	wantText(t, "arguments", string(o.Record.Args), `{"text":"the wish"}`)
}
