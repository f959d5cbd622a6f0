package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/charmbracelet/x/ansi"

	"adze/session"
	"adze/tool"
)

// scripted plays turns of calls as their tools tell of them, and watches where the prompt is.
type scripted struct {
	*player
	n       int
	prompts map[int]bool // rows in which the prompt stood
}

func newScripted(t *testing.T, w, h int) *scripted {
	s := &scripted{player: newPlayer(t, nil), prompts: map[int]bool{}}
	s.send(tea.WindowSizeMsg{Width: w, Height: h})
	return s
}

func (s *scripted) tell(e session.Event) {
	s.event(e)
	s.prompts[s.m.frame().CursorY] = true
}

// pass lets the clock of the turn go on.
func (s *scripted) pass(d time.Duration) {
	s.wait(d.String())
	s.prompts[s.m.frame().CursorY] = true
}

func (s *scripted) begin(text string) {
	s.step("type", text)
	s.step("key", "enter")
	s.step("user", text)
}

func (s *scripted) says(text string) {
	for _, word := range strings.SplitAfter(text, " ") {
		s.tell(session.TextDelta{Message: fmt.Sprint("m", s.n), Delta: word})
	}
	s.tell(session.MessageDone{Message: session.Message{ID: fmt.Sprint("m", s.n), Role: session.Assistant, Parts: []session.Part{{Kind: session.TextPart, Text: text}}}})
	s.n++
}

// call plays one call: its heading before and after, what it prints meanwhile, and what it shows.
func (s *scripted) call(name string, before tool.Heading, result string, prints []string, o tool.Outcome, blocks ...tool.Block) {
	s.n++
	id := tool.CallID(fmt.Sprint("c", s.n))
	s.tell(session.CallForming{Call: id, Name: name, Bytes: 40})
	s.tell(session.ToolQueued{Event: tool.Event{Call: id, Tool: name, Heading: before}})
	s.tell(session.ToolStart{Event: tool.Event{Call: id, Tool: name, Heading: before}})
	for i, text := range prints {
		s.pass(200 * time.Millisecond)
		h := before
		h.Result = fmt.Sprintf("%d lines", i+1)
		s.tell(session.ToolUpdate{Event: tool.Event{Call: id, Tool: name, Heading: h, Metadata: blocksJSON([]tool.Block{{Kind: tool.OutputBlock, Text: text, Total: i + 1}})}})
	}
	o.Call, o.Tool, o.Heading = id, name, before
	o.Heading.Result = result
	if o.Status == "" {
		o.Status = tool.Completed
	}
	if len(blocks) > 0 {
		o.Metadata = blocksJSON(blocks)
	}
	s.tell(session.ToolEnd{Outcome: o})
}

func (s *scripted) end() {
	r := session.Result{Cause: session.CauseDone, Duration: 14 * time.Second}
	s.send(batch{session.TurnEnd{Result: r}, turnDone{r}})
	s.prompts[s.m.frame().CursorY] = true
}

// rows are those of the conversation, at the width of the screen.
func (s *scripted) rows() []string {
	var out []string
	for _, r := range s.m.transcript.All(s.m.w) {
		out = append(out, strings.TrimRight(r.String(), " "))
	}
	return out
}

func todos(states ...string) []tool.Block {
	texts := []string{"Find out why the test fails", "Mend the code", "Run the tests and the soak"}
	var items []tool.Item
	for i, state := range states {
		items = append(items, tool.Item{Text: texts[i], State: state})
	}
	return tool.Checklist(items)
}

// TestRowsOfATurn holds what the turn of ten calls takes that assistants were compared by: text, todos,
// a search, two reads, a failing test, an edit, a command of 200 lines, a test, an answer.
func TestRowsOfATurn(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		s := newScripted(t, size[0], size[1])
		looks := func(verb, object, result string) {
			s.call(verb, tool.Heading{Verb: verb, Object: object, Shape: tool.OneRow}, result, nil, tool.Outcome{}, tool.Code(object, strings.Repeat("a line\n", 20), 1)...)
		}
		plans := func(states ...string) {
			s.call("todowrite", tool.Heading{Verb: "todos", Shape: tool.NoRow}, "1 of 3 done", nil, tool.Outcome{}, todos(states...)...)
		}
		runs := func(command, note, result string, failed bool, prints []string, last tool.Block) {
			o := tool.Outcome{Duration: 500 * time.Millisecond}
			if failed {
				o.Status, o.Code = tool.Failed, tool.CodeExit
			}
			s.call("bash", tool.Heading{Verb: "$", Object: command, Note: note, Shape: tool.Live}, result, prints, o, last)
		}
		s.begin("why does the test fail? fix it")
		s.says("I will look at the failing test first, then at the code that it calls.")
		plans("in_progress", "pending", "pending")
		looks("grep", `"func " in .`, "5 matches in 2 files")
		s.says("The test calls Add; I read both files.")
		looks("read", "calc.go", "29 lines")
		looks("read", "calc_test.go", "20 lines")
		var fails, soak []string
		for i := range 29 {
			fails = append(fails, fmt.Sprintf("    calc_test.go:16: Add(%d, 4) = -1, want %d", i, i+4))
		}
		for i := range 200 {
			soak = append(soak, fmt.Sprintf("soak %d/200: add(%d, %d) ok in 1 ms", i+1, i, i+1))
		}
		runs("go test ./...", "Run the tests", "exit 1 · 30 lines", true, fails[:3], tool.Block{Kind: tool.OutputBlock, Text: "--- FAIL: TestAdd\n" + strings.Join(fails, "\n"), Total: 30})
		s.says("Add subtracts. I mend that line.")
		plans("completed", "in_progress", "pending")
		s.call("edit", tool.Heading{Verb: "edit", Object: "calc.go"}, "+1 −1", nil, tool.Outcome{Changed: []string{"calc.go"}},
			tool.Diff("calc.go", "@@ -5,3 +5,3 @@\n func Add(a, b int) int {\n-    return a - b\n+    return a + b\n }\n")...)
		runs("./soak.sh 200", "Run the soak of 200 rounds", "200 lines", false, soak, tool.Block{Kind: tool.OutputBlock, Text: strings.Join(soak[190:], "\n"), Total: 200})
		runs("go test ./...", "Run the tests again", "", false, nil, tool.Block{Kind: tool.OutputBlock, Text: "ok  \texample.com/calc\t0.3s\n", Total: 1})
		plans("completed", "completed", "completed")
		before := len(s.rows())
		s.says("The test failed since `Add` subtracted. It adds now, and all tests pass.\n\n| step | result |\n|---|---|\n| go test | ok |\n| soak | ok |\n\n- `calc.go`: one line\n- nothing else\n\n```go\nreturn a + b\n```\n")
		s.end()
		rows := s.rows()
		t.Logf("%d×%d: %d rows, %d before the answer, the prompt in %d places", size[0], size[1], len(rows), before, len(s.prompts))
		if len(rows) > 30 || before > 18 || len(s.prompts) != 1 {
			t.Errorf("more than 30 rows, 18 before the answer, or a prompt that moves:\n%s", strings.Join(rows, "\n"))
		}
		if last := rows[len(rows)-1]; !strings.Contains(last, "calc.go +1 −1 · todos 3/3 · 10 calls · 0:14") {
			t.Errorf("the turn is closed by %q", last)
		}
	}
}

// TestRowsOfTwelveEdits: each has its heading and the lines that it changes.
func TestRowsOfTwelveEdits(t *testing.T) {
	s := newScripted(t, 120, 40)
	s.begin("rename it everywhere")
	s.says("I rename it in twelve files.")
	for i := range 12 {
		path := fmt.Sprintf("file%d.go", i)
		s.call("edit", tool.Heading{Verb: "edit", Object: path}, "+1 −1", nil, tool.Outcome{Changed: []string{path}},
			tool.Diff(path, "@@ -9,3 +9,3 @@\n \n-\tld(a)\n+\tload(a)\n \n")...)
	}
	s.says("Done.")
	s.end()
	rows := s.rows()
	t.Logf("%d rows, the prompt in %d places", len(rows), len(s.prompts))
	if len(rows) > 50 || len(s.prompts) != 1 {
		t.Errorf("more than 50 rows, or a prompt that moves:\n%s", strings.Join(rows, "\n"))
	}
}

// TestATurnIsClosedByItsOwnCalls: those of earlier turns, which a resumed session or another window
// brought, are none of it.
func TestATurnIsClosedByItsOwnCalls(t *testing.T) {
	s := newScripted(t, 120, 40)
	user := func(m session.Message) {
		m.Role, m.Parts = session.User, []session.Part{{Kind: session.TextPart, Text: "look"}}
		s.tell(session.MessageDone{Message: m})
	}
	look := func() {
		s.call("read", tool.Heading{Verb: "read", Object: "a.go", Shape: tool.OneRow}, "1 line", nil, tool.Outcome{Changed: []string{"a.go"}})
	}
	user(session.Message{ID: "old"})
	look()
	user(session.Message{ID: "new"})
	s.says("Nothing to do.")
	s.tell(session.TurnEnd{Result: session.Result{Cause: session.CauseDone}})
	if last := s.rows()[len(s.rows())-1]; last != "Nothing to do." {
		t.Errorf("a turn without calls is closed by %q", last)
	}
	user(session.Message{ID: "third"})
	look()
	user(session.Message{ID: "said meanwhile", Meanwhile: true})
	look()
	s.tell(session.TurnEnd{Result: session.Result{Cause: session.CauseDone}})
	if last := s.rows()[len(s.rows())-1]; !strings.Contains(last, "a.go · 2 calls") {
		t.Errorf("a turn of two calls is closed by %q", last)
	}
}

// TestTwoLinesOfOutputAreBothShown: of more than two the heading has the number, and the last stands
// below it.
func TestTwoLinesOfOutputAreBothShown(t *testing.T) {
	for n, want := range map[int]string{2: "line 1\n  │ line 2", 3: "3 lines\n  │ line 3"} {
		s := newScripted(t, 80, 24)
		text := ""
		for i := range n {
			text += fmt.Sprintf("line %d\n", i+1)
		}
		s.call("bash", tool.Heading{Verb: "$", Object: "make", Shape: tool.Live}, fmt.Sprintf("%d lines", n), nil, tool.Outcome{}, tool.Block{Kind: tool.OutputBlock, Text: text, Total: n})
		if got := ansi.Strip(strings.Join(s.rows(), "\n")); !strings.HasSuffix(got, want) {
			t.Errorf("%d lines: %q", n, got)
		}
	}
}

// TestARunningCallHasItsRowsFromTheFirst: what it prints moves nothing.
func TestARunningCallHasItsRowsFromTheFirst(t *testing.T) {
	s := newScripted(t, 80, 24)
	s.begin("go")
	h := tool.Heading{Verb: "$", Object: "make", Shape: tool.Live}
	s.tell(session.ToolStart{Event: tool.Event{Call: "c1", Tool: "bash", Heading: h}})
	first := len(s.rows())
	for i := range 10 {
		text := strings.Repeat("a line\n", i)
		s.tell(session.ToolUpdate{Event: tool.Event{Call: "c1", Tool: "bash", Heading: h, Metadata: blocksJSON([]tool.Block{{Kind: tool.OutputBlock, Text: text, Total: i}})}})
		if n := len(s.rows()); n != first || n != 2+liveRowsOfACall {
			t.Fatalf("%d rows after %d lines, %d before the first", n, i, first)
		}
	}
}

// liveRowsOfACall are the rows of output of a running call.
const liveRowsOfACall = 3
