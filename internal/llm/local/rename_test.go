package local

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"

	"adze/session"
	"adze/tool"
)

func words() Names {
	return Names{"bash": "run_command"}
}

// model keeps what it was asked, and answers with what is written down.
type model struct {
	asked  []session.Request
	answer []session.Chunk
}

func (m *model) Name() string { return "m" }

func (m *model) Stream(_ context.Context, r session.Request) iter.Seq[session.Chunk] {
	m.asked = append(m.asked, r)
	return slices.Values(m.answer)
}

func definitions(names ...string) (out []tool.Definition) {
	for _, name := range names {
		out = append(out, tool.Definition{Name: name, Aliases: []string{"run_command", "sh"}, Description: "old_string as it is, not bold_strings",
			Parameters: []byte(`{"properties":{"old_string":{"type":"string"},"replace_all":{}},"required":["old_string"]}`)})
	}
	return out
}

func call(name, arguments string) session.Call {
	return session.Call{RawCall: tool.RawCall{ID: "c", Name: name, Arguments: arguments}}
}

// spoken is a conversation with a call and its outcome.
func spoken(name, arguments string) []session.Message {
	return []session.Message{
		{ID: "m1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "bash old_string"}}},
		{ID: "m2", Role: session.Assistant, Parts: []session.Part{{Kind: session.CallPart, Call: &tool.RawCall{ID: "c", Name: name, Arguments: arguments}}}},
		{ID: "m3", Role: session.ToolRole, Parts: []session.Part{{Kind: session.OutcomePart, Outcome: &tool.Outcome{Call: "c", Tool: name, Output: "bash"}}}},
	}
}

func TestTheModelSeesOtherNames(t *testing.T) {
	m := &model{}
	p := Rename(words())(m)
	tools, history := definitions("bash", "edit", "read"), spoken("bash", `{"command":"old_string"}`)
	for range 2 {
		for range p.Stream(t.Context(), session.Request{Tools: tools, ToolsDigest: "d", Messages: history, Choice: "bash"}) {
			t.Fatal("it answered")
		}
	}
	r, again := m.asked[0], m.asked[1]
	if r.Tools[0].Name != "run_command" || !slices.Equal(r.Tools[0].Aliases, []string{"sh", "bash"}) || r.Tools[2].Name != "read" || r.Choice != "run_command" || r.ToolsDigest == "d" {
		t.Errorf("%+v %s %s", r.Tools, r.Choice, r.ToolsDigest)
	}
	if r.Messages[0].Text() != "bash old_string" || r.Messages[1].Parts[0].Call.Name != "run_command" || r.Messages[1].Parts[0].Call.Arguments != `{"command":"old_string"}` ||
		r.Messages[2].Parts[0].Outcome.Tool != "run_command" || r.Messages[2].Parts[0].Outcome.Output != "bash" {
		t.Errorf("%+v", r.Messages)
	}
	// What is sent again is the same values, so that nothing is encoded anew; and nobody else's
	// were changed.
	if &r.Messages[0] != &again.Messages[0] || &r.Messages[1].Parts[0] != &again.Messages[1].Parts[0] || &r.Tools[0] != &again.Tools[0] {
		t.Error("a message is made anew for each request")
	}
	if tools[0].Name != "bash" || !slices.Equal(tools[0].Aliases, []string{"run_command", "sh"}) || history[1].Parts[0].Call.Name != "bash" || history[2].Parts[0].Outcome.Tool != "bash" {
		t.Error("the session's own values were changed")
	}
}

func TestCallsComeBackWithRealNames(t *testing.T) {
	for name, want := range map[string]string{"run_command": "bash", "bash": "bash", "grep": "grep"} {
		p := Rename(words())(&model{answer: []session.Chunk{session.Forming{Name: name}, call(name, `{"command":"ls"}`), session.Done{}}})
		got := slices.Collect(p.Stream(t.Context(), session.Request{Tools: definitions("bash", "edit")}))
		back := got[1].(session.Call)
		if got[0].(session.Forming).Name != want || back.Name != want || back.Arguments != `{"command":"ls"}` || back.ID != "c" || len(got) != 3 {
			t.Errorf("%s became %+v", name, got)
		}
	}
}

// A name that somebody's own tool has stays theirs.
func TestATakenNameIsNotGivenAway(t *testing.T) {
	m := &model{answer: []session.Chunk{call("run_command", "{}"), session.Done{}}}
	for c := range Rename(words())(m).Stream(t.Context(), session.Request{Tools: definitions("bash", "run_command"), Messages: spoken("bash", "{}")}) {
		if c, ok := c.(session.Call); ok && c.Name != "run_command" {
			t.Errorf("the call went to %s", c.Name)
		}
	}
	if r := m.asked[0]; r.Tools[0].Name != "bash" || r.Tools[1].Name != "run_command" || r.Messages[1].Parts[0].Call.Name != "bash" {
		t.Errorf("%+v", r)
	}
}

// What adze itself says to the model names tools as the model knows them; what is of a file stays.
func TestHintsNameWhatTheModelKnows(t *testing.T) {
	m := &model{}
	failed := &tool.Outcome{Call: "c", Tool: "edit", Status: tool.Failed, Output: "old_string is not in a.go; or use bash (sed). The closest lines are:\n  12  old_string := bash\nCopy old_string again."}
	history := []session.Message{
		{ID: "m1", Role: session.User, Note: true, Parts: []session.Part{{Kind: session.TextPart, Text: "The only tools are: bash, edit. No old_string.", Tools: []string{"bash", "edit"}}}},
		{ID: "m2", Role: session.User, Note: true, Parts: []session.Part{{Kind: session.TextPart, Text: "bash stays"}}},
		{ID: "m3", Role: session.ToolRole, Parts: []session.Part{{Kind: session.OutcomePart, Outcome: failed}}},
	}
	for range Rename(words())(m).Stream(t.Context(), session.Request{Tools: definitions("bash", "edit"), Messages: history}) {
		t.Fatal("it answered")
	}
	got := m.asked[0].Messages
	if got[0].Text() != "The only tools are: run_command, edit. No old_string." || got[1].Text() != "bash stays" {
		t.Errorf("%q, %q", got[0].Text(), got[1].Text())
	}
	if out := got[2].Parts[0].Outcome.Output; out != "old_string is not in a.go; or use run_command (sed). The closest lines are:\n  12  old_string := bash\nCopy old_string again." {
		t.Errorf("%q", out)
	}
	if !strings.Contains(failed.Output, "old_string is not") {
		t.Error("the session's own outcome was changed")
	}
}

// The note at the end of a call that was done is in the model's words; what stands above it, or in
// what a command says, stays.
func TestNotesNameWhatTheModelKnows(t *testing.T) {
	for _, c := range []struct{ tool, output, want string }{
		{"read", "a\nuse list\n(12 more; use list or glob)", "a\nuse list\n(12 more; use list_files or glob)"},
		{"read", " 1  (use list)\n(5 lines; grep finds the rest)", " 1  (use list)\n(5 lines; search_text finds the rest)"},
		{"glob", "(no file matches *.go; list shows them)", "(no file matches *.go; list_files shows them)"},
		{"list", "a.go\n(1 file not shown: list a folder by itself, or use glob)", "a.go\n(1 file not shown: list a folder by itself, or use glob)"},
		{"bash", "x\n(use grep)", "x\n(use grep)"},
		{"bash", "or grep\n(shortened; the whole is in /tmp/1; read it with offset and limit, or grep it)",
			"or grep\n(shortened; the whole is in /tmp/1; read it with offset and limit, or search_text it)"},
		{"read", " 1  (use list)", " 1  (use list)"},
		{"bash", "", ""},
	} {
		m := &model{}
		history := []session.Message{{ID: "m", Role: session.ToolRole, Parts: []session.Part{{
			Kind: session.OutcomePart, Outcome: &tool.Outcome{Call: "c", Tool: c.tool, Status: tool.Completed, Output: c.output}}}}}
		names := Names{"bash": "run_command", "list": "list_files", "grep": "search_text"}
		for range Rename(names)(m).Stream(t.Context(), session.Request{Tools: definitions("bash", "read"), Messages: history}) {
			t.Fatal("it answered")
		}
		if got := m.asked[0].Messages[0].Parts[0].Outcome.Output; got != c.want {
			t.Errorf("%s: %q became %q, want %q", c.tool, c.output, got, c.want)
		}
	}
}
