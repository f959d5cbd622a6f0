package audit_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/sessiondb/audit"
	"adze/session"
	"adze/tool"
)

func entry(t testing.TB, kind session.EntryType, data any) session.Entry {
	t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return session.Entry{Type: kind, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Data: raw}
}

func trail(entries ...session.Entry) *audit.Trail {
	var t audit.Trail
	for i, e := range entries {
		t.Add(int64(i+1), e)
	}
	return &t
}

// written is the intent of a call that writes, and its outcome.
func written(call tool.CallID) (tool.Record, tool.Outcome) {
	r := tool.Record{
		Message: "m2", Call: call, Tool: "write", Args: json.RawMessage(`{"path":"a"}`),
		Needs: []tool.Need{{Permission: tool.Write, Target: "a"}}, Decisions: []tool.Decision{{Allow: true, Layer: "mode edits"}},
	}
	o := r.Aborted("done")
	o.Status, o.Code, o.Record.Status, o.Record.Code = tool.Completed, "", tool.Completed, ""
	return r, o
}

func TestATrailListsRequestsAndCallsInTheirOrder(t *testing.T) {
	r, o := written("c1")
	more := r
	more.Needs = append(more.Needs, tool.Need{Permission: tool.Write, Target: "b"})
	lost, _ := written("c2")
	o.Record.Panic = "at /home/x with the secret"
	answer := session.Message{ID: "m2", Role: session.Assistant, Provider: "p", Model: "m", Prompt: "abc", Usage: &session.Usage{Input: 3}, Duration: time.Second}
	got := trail(
		entry(t, session.StartEntry, session.Start{Version: "1", Cwd: "/w"}),
		entry(t, session.MessageEntry, session.Message{ID: "m1", Role: session.User}),
		entry(t, session.RequestEntry, session.FailedRequest{Message: "m2", Attempt: 1, Provider: "p", Model: "m", Prompt: "abc", Error: "overloaded"}),
		entry(t, session.MessageEntry, answer),
		entry(t, session.IntentEntry, r),
		entry(t, session.IntentEntry, more),
		entry(t, session.EntryType("of a later version"), 1),
		entry(t, session.OutcomeEntry, o),
		entry(t, session.IntentEntry, lost),
	)
	var lines []string
	for _, i := range got.Items() {
		if i.Request != nil {
			lines = append(lines, fmt.Sprint(i.Seq, " ", i.Request.Model, " ", i.Request.Prompt, " ", i.Request.Error, " ", i.Request.Duration))
		} else {
			lines = append(lines, fmt.Sprint(i.Seq, " ", i.Call.Call, " ", i.Call.Status, " ", i.Call.Intent, " ", i.Call.Open))
		}
		if raw, err := json.Marshal(i); err != nil || strings.Contains(string(raw), "secret") {
			t.Errorf("%s %v", raw, err)
		}
	}
	want := []string{"3 m abc overloaded 0s", "4 m abc  1s", "8 c1 completed 5 false", "9 c2  9 true"}
	if d := cmp.Diff(want, lines); d != "" {
		t.Errorf("items (-want +got):\n%s", d)
	}
	if len(got.Findings) != 0 || got.Start.Cwd != "/w" {
		t.Errorf("findings %v, start %+v", got.Findings, got.Start)
	}
}

func TestFindings(t *testing.T) {
	r, o := written("c1")
	denied := r
	denied.Decisions = []tool.Decision{{Allow: true}, {Reason: "no"}}
	changed := o
	changed.Output = "something else"
	read := o
	read.Record.Needs = []tool.Need{{Permission: tool.Read, Target: "a"}}
	unsaved := o
	unsaved.Status, unsaved.Code = tool.Failed, tool.CodeIO
	refused := o
	refused.Status = tool.Denied
	i := func(r tool.Record) session.Entry { return entry(t, session.IntentEntry, r) }
	e := func(o tool.Outcome) session.Entry { return entry(t, session.OutcomeEntry, o) }
	for _, c := range []struct {
		name    string
		entries []session.Entry
		want    string
	}{
		{"sound", []session.Entry{i(r), e(o)}, ""},
		{"only reads", []session.Entry{e(read)}, ""},
		{"denied", []session.Entry{e(refused)}, ""},
		{"not run, since the intent was not saved", []session.Entry{e(unsaved)}, ""},
		{"effect without a decision", []session.Entry{e(o)}, "entry 1 is an effect without a decision"},
		{"decision after the effect", []session.Entry{e(o), i(r)}, "entry 1 is an effect without a decision"},
		{"intent without a yes", []session.Entry{i(denied), e(o)}, "entry 1 is the intent"},
		{"another output", []session.Entry{i(r), e(changed)}, "entry 2 holds another output"},
		{"two outcomes", []session.Entry{i(r), e(o), e(o)}, "entry 3 is a second outcome"},
		{"not JSON", []session.Entry{{Type: session.OutcomeEntry, Data: []byte(`{"call`)}}, "entry 1 cannot be read"},
	} {
		var got string
		if f := trail(c.entries...).Findings; len(f) > 0 {
			got = f[0].String()
		}
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// row is what a scan yields for an entry.
func row(values ...any) json.RawMessage {
	full := make([]any, len(audit.Paths()))
	for i := 0; i < len(values); i += 2 {
		for at, path := range audit.Paths() {
			if path == "$."+values[i].(string) {
				full[at] = values[i+1]
			}
		}
	}
	raw, _ := json.Marshal(full)
	return raw
}

func TestTallyCountsByToolAndByModel(t *testing.T) {
	var tally audit.Tally
	asked := func(s session.ID, id, model string) {
		tally.Add(s, session.MessageEntry, row("role", "assistant", "id", id, "provider", "p", "model", model, "usage", session.Usage{Input: 10, Output: 1}, "duration_ns", int64(2e9)))
	}
	call := func(s session.ID, message, name string, status tool.Status, ms int64, more ...any) {
		tally.Add(s, session.OutcomeEntry, row(append(more, "tool", name, "status", status, "duration_ns", ms*1e6, "record.message", message)...))
	}
	tally.Add("s1", session.MessageEntry, row("role", "user", "id", "m1"))
	asked("s1", "m2", "small")
	for i := range 100 {
		call("s1", "m2", "read", tool.Completed, int64(i+1))
	}
	call("s1", "m2", "edit", tool.Failed, 7, "code", "no_match", "record.repair", "alias")
	call("s1", "m2", "edit", tool.Denied, 0, "code", "denied", "record.origin", "text")
	asked("s2", "m2", "large")
	tally.Add("s2", session.RequestEntry, row("provider", "p", "model", "large", "usage", session.Usage{Input: 5}))
	call("s2", "m2", "edit", tool.Completed, 3)
	call("s2", "m9", "edit", tool.Completed, 5) // of a message that is not in the log
	tally.Add("s2", session.OutcomeEntry, nil)
	tally.Add("s3", session.MessageEntry, row("role", "assistant", "id", "m2", "provider", "hand", "model", "tools-run"))
	call("s3", "m2", "list", tool.Completed, 1)

	s := tally.Stats()
	if s.Sessions != 3 || s.Requests != 3 || s.Failed != 1 || s.Calls != 105 || s.Unreadable != 1 || s.Usage != (session.Usage{Input: 25, Output: 2}) {
		t.Errorf("sums: %+v", s)
	}
	read := audit.Group{Name: "read", Calls: 100, Status: map[tool.Status]int{tool.Completed: 100}, Codes: map[string]int{}, Latency: audit.Latency{P50: 50, P99: 99}}
	edit := audit.Group{Name: "edit", Calls: 4, Status: map[tool.Status]int{tool.Completed: 2, tool.Failed: 1, tool.Denied: 1},
		Codes: map[string]int{"no_match": 1, "denied": 1}, Repaired: 1, FromText: 1, Latency: audit.Latency{P50: 5, P99: 7}}
	list := audit.Group{Name: "list", Calls: 1, Status: map[tool.Status]int{tool.Completed: 1}, Codes: map[string]int{}, Latency: audit.Latency{P50: 1, P99: 1}}
	if d := cmp.Diff([]audit.Group{read, edit, list}, s.Tools); d != "" {
		t.Errorf("tools (-want +got):\n%s", d)
	}
	if n := edit.Failures(); n != 2 {
		t.Errorf("%d failures, want 2", n)
	}
	small, hand, large := s.Models[0], s.Models[1], s.Models[2]
	if hand.Name != "hand/tools-run" || hand.Calls != 1 || hand.Requests != 0 {
		t.Errorf("by hand: %+v", hand)
	}
	if small.Name != "p/small" || small.Calls != 102 || small.Repaired != 1 || small.Requests != 1 || small.Answers.P50 != 2000 {
		t.Errorf("small: %+v", small)
	}
	if large.Name != "p/large" || large.Calls != 1 || large.Requests != 2 || large.Failed != 1 || large.Usage.Input != 15 {
		t.Errorf("large: %+v", large)
	}
}

func BenchmarkTally(b *testing.B) {
	data := row("tool", "bash", "status", "completed", "duration_ns", 5_000_000, "record.message", "m2", "record.origin", "native")
	var tally audit.Tally
	for b.Loop() {
		tally.Add("s", session.OutcomeEntry, data)
	}
}
