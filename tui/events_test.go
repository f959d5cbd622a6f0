package tui

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/session"
	"adze/tool"
	"adze/tui/draw"
)

// samples are events of every kind, each with what must then be seen on the screen or in the pane
// of what fills the context.
func samples() map[string]struct {
	before, event session.Event
	seen          string
} {
	call := tool.Event{Call: "c", Tool: "bash", Title: "go vet"}
	type sample = struct {
		before, event session.Event
		seen          string
	}
	answer := session.Message{ID: "m", Role: session.Assistant, Usage: &session.Usage{Input: 10, Output: 2},
		Parts: []session.Part{{Kind: session.TextPart, Text: "the whole answer"}}}
	return map[string]sample{
		"TextDelta":      {nil, session.TextDelta{Message: "m", Delta: "a piece of text"}, "a piece of text"},
		"ReasoningDelta": {nil, session.ReasoningDelta{Message: "m", Delta: "a piece of thought"}, "a piece of thought"},
		"CallForming":    {nil, session.CallForming{Message: "m", Call: "c", Name: "write", Bytes: 345}, "being written, 345 B"},
		"MessageDone":    {nil, session.MessageDone{Message: answer}, "the whole answer"},
		"ToolQueued": {nil, session.ToolQueued{Event: tool.Event{Call: "c", Tool: "write", Args: json.RawMessage(`{"path":"a/b.go"}`)}},
			"a/b.go"},
		"ToolStart": {nil, session.ToolStart{Event: call}, "go vet"},
		"ToolUpdate": {session.ToolStart{Event: call}, session.ToolUpdate{Event: tool.Event{Call: "c", Tool: "bash",
			Metadata: blocksJSON(tool.Output("", "so far so good"))}}, "so far so good"},
		"ToolAsk": {session.ToolStart{Event: call}, session.ToolAsk{Event: tool.Event{Call: "c", Tool: "bash",
			Decision: &tool.Decision{Allow: true, Asked: true}}}, "allowed by you"},
		"ToolEnd": {session.ToolStart{Event: call}, session.ToolEnd{Outcome: tool.Outcome{Call: "c", Tool: "bash",
			Status: tool.Failed, Output: "it broke"}}, "it broke"},
		"FilesChanged": {nil, session.FilesChanged{Window: session.Window{Changes: []session.FileChange{
			{Path: "by/a/job", Before: session.FileState{Kind: "absent"}, After: session.FileState{Kind: "file"}}}}}, "by/a/job"},
		"Retry":   {nil, session.Retry{Message: "m", Attempt: 2, Of: 5, Delay: time.Second, Cause: "overloaded"}, "overloaded"},
		"Notice":  {nil, session.Notice{Text: "something to know"}, "something to know"},
		"Unsaved": {nil, session.Unsaved{Entries: 3, Cause: "the disk is full"}, "not saved"},
		"Claimed": {nil, session.Claimed{Claims: []session.Claim{{Text: "says that it flies"}}}, "the answer says that it flies"},
		"Counted": {nil, session.Counted{Ledger: session.Ledger{Model: "fake/m", Estimate: 123, Sources: []session.Source{
			{Group: session.ResultsGroup, Name: "the_source", Tokens: 77}}}}, "the_source"},
		"PrefixChanged": {nil, session.PrefixChanged{Change: session.PrefixChange{Causes: []string{"the system prompt changed"}}}, "the system prompt changed"},
		"Compacted":     {nil, session.Compacted{Compaction: session.Compaction{Cause: "it was full", Messages: 3}}, "it was full"},
		"Planned":       {nil, session.Planned{Plan: session.Plan{State: session.PlanAccepted, Mode: "auto"}}, "auto · "},
		"TurnEnd":       {nil, session.TurnEnd{Result: session.Result{Cause: session.CauseProvider, Message: "no route"}}, "no route"},
	}
}

// TestEveryEventReachesAPane takes the kinds of events from the source: a new one without a place
// to be seen fails.
func TestEveryEventReachesAPane(t *testing.T) {
	known := samples()
	kinds := eventKinds(t)
	if len(kinds) < 11 {
		t.Fatalf("found only %q in the source", kinds)
	}
	elsewhere := map[string]string{
		"Requested": "tokens and cost come with MessageDone, failed attempts with Retry",
		"TaskEnd":   "what came of a subagent comes with the ToolEnd of its call",
	}
	for _, kind := range kinds {
		if elsewhere[kind] != "" {
			continue
		}
		s, ok := known[kind]
		if !ok {
			t.Errorf("session.%s has no sample: which pane shows it?", kind)
			continue
		}
		p := newPlayer(t, nil)
		p.m.w, p.m.h = 120, 40
		p.step("type", "go")
		p.step("key", "enter")
		if s.before != nil {
			p.event(s.before)
		}
		p.clock = p.clock.Add(time.Second) // what runs for a while is shown
		if strings.Contains(p.everything(), s.seen) {
			t.Errorf("%s: %q is there without it", kind, s.seen)
		}
		p.event(s.event)
		p.clock = p.clock.Add(time.Second)
		if got := p.everything(); !strings.Contains(got, s.seen) {
			t.Errorf("%s: no %q in\n%s", kind, s.seen, got)
		}
	}
}

// everything is the screen and the pane of the context.
func (p *player) everything() string {
	rows, _ := p.m.ledger.Sheet(p.m.w)
	text := p.dump()
	for _, r := range rows {
		text += r.String() + "\n"
	}
	for _, r := range p.m.changes.Brief(p.m.w, 50) {
		text += r.String() + "\n"
	}
	return text
}

// eventKinds are the types with the method that makes them events.
func eventKinds(t *testing.T) (kinds []string) {
	t.Helper()
	files, err := filepath.Glob("../session/*.go")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	for _, path := range files {
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			m, ok := d.(*ast.FuncDecl)
			if !ok || m.Recv == nil || m.Name.Name != "event" {
				continue
			}
			if receiver, ok := m.Recv.List[0].Type.(*ast.Ident); ok {
				kinds = append(kinds, receiver.Name)
			}
		}
	}
	slices.Sort(kinds)
	return kinds
}

// TestAFloodReachesThePanes counts what a hundred thousand events leave behind: nothing is dropped
// between the bridge and the panes.
func TestAFloodReachesThePanes(t *testing.T) {
	const events = 100_000
	p := newPlayer(t, nil)
	p.m.draw.Theme.CopyFrom(draw.Bare())
	b := newBridge()
	var text strings.Builder
	ended, notices := 0, 0
	for i := range events {
		call := tool.CallID(fmt.Sprint("c", i/5))
		switch i % 5 {
		case 0:
			b.add(session.ToolStart{Event: tool.Event{Call: call, Tool: "bash"}})
		case 1:
			b.add(session.ToolUpdate{Event: tool.Event{Call: call, Tool: "bash", Metadata: json.RawMessage(`{}`)}})
		case 2:
			ended++
			b.add(session.ToolEnd{Outcome: tool.Outcome{Call: call, Tool: "bash", Status: tool.Completed, Title: fmt.Sprint("title ", i)}})
		case 3:
			piece := fmt.Sprint(i, " ")
			text.WriteString(piece)
			b.add(session.TextDelta{Message: "m", Delta: piece})
		case 4:
			notices++
			b.add(session.Notice{Text: fmt.Sprint("notice ", i)})
		}
		if i%977 == 0 {
			p.m.Update(b.take())
		}
	}
	p.m.Update(b.take())
	var words []string
	calls, notes := 0, 0
	for _, r := range p.m.transcript.All(200) {
		switch row := strings.TrimSpace(r.String()); {
		case strings.Contains(row, "bash  title "):
			calls++
		case strings.HasPrefix(row, "notice "):
			notes++
		default:
			words = append(words, strings.Fields(row)...)
		}
	}
	if want := strings.Fields(text.String()); calls != ended || notes != notices || !slices.Equal(words, want) {
		t.Errorf("%d of %d calls, %d of %d notices, %d of %d words of text", calls, ended, notes, notices, len(words), len(want))
	}
	if n := len(p.m.activity.Started()); n != 0 {
		t.Errorf("%d calls still run", n)
	}
}
