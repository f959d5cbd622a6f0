package script_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/llm/script"
	"adze/session"
	"adze/tool"
)

const mend = `# mends a test
-- 1 look --
expect prompt: (?i)fix .*test
expect none:
reasoning: The name is in the report.
text: I run the tests first,
  all of them:
text: now.
call bash: {"command":"go test ./..."}
usage: input=12 output=5
-- 2 --
expect bash completed: --- FAIL
save test: --- FAIL: (\w+)
save line: (?m)^want (.*)$
call grep: {"pattern":"func ${test}","note":"${line}","price":"$5"}
call todowrite: {"todos":[
    {"id":"1"}]}
-- 3 --
expect grep: sum
text: Done.
`

func ask(p session.Provider, model string, messages ...session.Message) []session.Chunk {
	var all []session.Chunk
	for c := range p.Stream(context.Background(), session.Request{Model: model, Messages: messages}) {
		all = append(all, c)
	}
	return all
}

func user(text string) session.Message {
	return session.Message{ID: "u", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: text}}}
}

func outcome(name, output string) session.Message {
	return session.Message{ID: "o" + name, Role: session.ToolRole, Parts: []session.Part{{
		Kind: session.OutcomePart, Outcome: &tool.Outcome{Tool: name, Status: tool.Completed, Output: output},
	}}}
}

// sum joins chunks into what a session would store.
func sum(chunks []session.Chunk) (text, reasoning string, calls []session.Call, done session.Done) {
	for _, c := range chunks {
		switch c := c.(type) {
		case session.Text:
			text += c.Delta
		case session.Reasoning:
			reasoning += c.Delta
		case session.Call:
			calls = append(calls, c)
		case session.Done:
			done = c
		}
	}
	return text, reasoning, calls, done
}

func TestStepsAnswerInTurn(t *testing.T) {
	p := script.New(script.Options{Script: []byte(mend)})
	text, reasoning, calls, done := sum(ask(p, "demo", user("Fix the failing test")))
	if text != "I run the tests first,\nall of them:\nnow." || reasoning != "The name is in the report." {
		t.Errorf("text %q, reasoning %q", text, reasoning)
	}
	if len(calls) != 1 || calls[0].ID != "call_1_1" || calls[0].Name != "bash" ||
		calls[0].Arguments != `{"command":"go test ./..."}` {
		t.Errorf("calls %+v", calls)
	}
	if done.Stop != session.StopCalls || done.Err != nil || done.Usage.Input != 12 || done.Usage.Output != 5 {
		t.Errorf("done %+v", done)
	}

	_, _, calls, done = sum(ask(p, "demo", user("Fix the failing test"),
		outcome("bash", "--- FAIL: TestSum\nwant a \"5\"\n")))
	want := []string{
		`{"pattern":"func TestSum","note":"a \"5\"","price":"$5"}`,
		"{\"todos\":[\n  {\"id\":\"1\"}]}",
	}
	if done.Err != nil || len(calls) != 2 || calls[0].Arguments != want[0] || calls[1].Arguments != want[1] {
		t.Errorf("calls %+v, done %+v", calls, done)
	}

	text, _, _, done = sum(ask(p, "demo", outcome("grep", "sum.go:3")))
	if text != "Done." || done.Stop != session.StopEnd {
		t.Errorf("text %q, done %+v", text, done)
	}
	wantFailure(t, ask(p, "demo", user("more")), "demo has no step 4; its last is 3")
}

func wantFailure(t *testing.T, chunks []session.Chunk, part string) {
	t.Helper()
	_, _, calls, done := sum(chunks)
	var failure *session.ProviderError
	if !errors.As(done.Err, &failure) || failure.Kind != session.ReplayError || done.Stop != session.StopError {
		t.Fatalf("done %+v, want a replay failure", done)
	}
	if !strings.Contains(failure.Message, part) || len(calls) > 0 {
		t.Errorf("message %q does not hold %q, or calls %v came", failure.Message, part, calls)
	}
}

func TestDivergingRunNamesTheStep(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"prompt", "-- 1 ask --\nexpect prompt: ^fix\n", `step 1 ask: expect prompt: ^fix: the prompt is "hello"`},
		{"outcome", "-- 1 --\nexpect bash: ok\n", "step 1: expect bash: ok: there are no outcomes"},
		{"save", "-- 1 --\nsave x: (\\d+)\n", "step 1: save x: nothing matches"},
		{"placeholder", "-- 1 --\ntext: ${x}\n", "${x} was not saved"},
		{"number", "-- 2 --\n", `step "2" must be number 1`},
		{"word", "-- 1 --\nsay: hello\n", `step 1: line 1: unknown word "say"`},
		{"colon", "-- 1 --\nhello\n", `line 1: "hello" has no colon`},
		{"regexp", "-- 1 --\nexpect prompt: (\n", "missing closing"},
		{"group", "-- 1 --\nsave x: a\n", "needs a group"},
		{"usage", "-- 1 --\nusage: tokens=3\n", "unknown field"},
		{"empty", "hello\n", "no steps"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := script.New(script.Options{Script: []byte(c.script), Name: "case"})
			wantFailure(t, ask(p, "x", user("hello")), c.want)
		})
	}
}

func TestDivergingOutcomeIsShown(t *testing.T) {
	p := script.New(script.Options{Script: []byte("-- 1 --\nexpect bash failed: ok\n")})
	wantFailure(t, ask(p, "x", user("hello"), outcome("bash", "ok")), "the outcomes are:\nbash completed: ok")
}

func TestFileIsReadAtTheFirstRequest(t *testing.T) {
	reads := 0
	p := script.New(script.Options{Read: func(name string) ([]byte, error) {
		reads++
		if name != "a/b.txtar" {
			return nil, fmt.Errorf("%s: no such file", name)
		}
		return []byte("-- 1 --\ntext: hello\n-- 2 --\ntext: again\n"), nil
	}})
	if reads != 0 {
		t.Error("the file was read at construction")
	}
	if err := p.Check("a/b.txtar"); err != nil {
		t.Error(err)
	}
	first, _, _, _ := sum(ask(p, "a/b.txtar"))
	second, _, _, _ := sum(ask(p, "a/b.txtar"))
	if first != "hello" || second != "again" || reads != 1 {
		t.Errorf("%q, %q after %d reads", first, second, reads)
	}
	_, _, _, done := sum(ask(p, "other"))
	var failure *session.ProviderError
	if !errors.As(done.Err, &failure) || failure.Kind != session.NoModelError || !strings.Contains(failure.Message, "other: no such file") {
		t.Errorf("%+v", done)
	}
}

func TestWrittenEndings(t *testing.T) {
	for _, c := range []struct {
		ending string
		stop   session.Stop
		kind   session.ErrorKind
	}{
		{"stop: length", session.StopLength, ""},
		{"stop: refused", session.StopRefused, session.RefusedAnswer},
		{"fail: rate_limit too many requests", session.StopError, session.RateError},
		{"cut:", session.StopError, session.BadResponse},
	} {
		p := script.New(script.Options{Script: []byte("-- 1 --\ntext: a\ncall bash: {}\n" + c.ending + "\n")})
		text, _, calls, done := sum(ask(p, "x"))
		var failure *session.ProviderError
		kind := session.ErrorKind("")
		if errors.As(done.Err, &failure) {
			kind = failure.Kind
		}
		if text != "a" || len(calls) != 0 || done.Stop != c.stop || kind != c.kind {
			t.Errorf("%s: text %q, calls %v, done %+v", c.ending, text, calls, done)
		}
	}
}

// The stream of a step with hold stays open, as that of a slow model does, until the user stops it.
func TestHoldStaysOpen(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := script.New(script.Options{Script: []byte("-- 1 --\ntext: a\nhold:\n")})
	text := ""
	var done session.Done
	for c := range p.Stream(ctx, session.Request{Model: "m"}) {
		switch c := c.(type) {
		case session.Text:
			text += c.Delta
			cancel()
		case session.Done:
			done = c
		}
	}
	if text != "a" || done.Err == nil {
		t.Errorf("text %q, done %+v", text, done)
	}
}

func TestUsedIDsAreNotMintedAgain(t *testing.T) {
	p := script.New(script.Options{Script: []byte("-- 1 --\ncall bash: {}\n")})
	asked := session.Message{ID: "a", Role: session.Assistant, Parts: []session.Part{{
		Kind: session.CallPart, Call: &tool.RawCall{ID: "call_1_1", Name: "bash"},
	}}}
	_, _, calls, _ := sum(ask(p, "x", asked))
	if len(calls) != 1 || calls[0].ID != "call_1_2" {
		t.Errorf("calls %+v", calls)
	}
}

func TestTextIsCutAtRunes(t *testing.T) {
	want := strings.Repeat("äöü€𝄞", 20)
	p := script.New(script.Options{Script: []byte("-- 1 --\ntext: " + want + "\n")})
	pieces, text := 0, ""
	for _, c := range ask(p, "x") {
		if c, ok := c.(session.Text); ok {
			pieces++
			text += c.Delta
			if !strings.Contains(want, c.Delta) {
				t.Errorf("a piece is cut inside a rune: %q", c.Delta)
			}
		}
	}
	if text != want || pieces < 10 {
		t.Errorf("%d pieces, text %q", pieces, text)
	}
}

func TestPacedAnswerStopsAtOnceWhenCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		p := script.New(script.Options{
			Script: []byte("-- 1 --\ntext: a long answer in many pieces\n"), Pace: time.Second,
		})
		var stopped time.Time
		var done session.Done
		for c := range p.Stream(ctx, session.Request{}) {
			switch c := c.(type) {
			case session.Text:
				time.AfterFunc(time.Second/2, func() { stopped = time.Now(); cancel() })
			case session.Done:
				done = c
			}
		}
		if done.Stop != session.StopAborted || !errors.Is(done.Err, context.Canceled) || !time.Now().Equal(stopped) {
			t.Errorf("done %+v, %v after the cancellation", done, time.Since(stopped))
		}
	})
}

func TestSubagentsHaveStepsOfTheirOwn(t *testing.T) {
	p := script.New(script.Options{Script: []byte("-- 1 --\ntext: main\n-- explore: find: it: 1 --\ntext: found\n" +
		"-- explore: find: it: 2 again --\ntext: again\n-- explore: 1 --\ntext: another\n")})
	for _, c := range []struct{ agent, want string }{
		{"explore: find: it", "found"}, {"explore: something", "another"}, {"", "main"}, {"explore: find: it", "again"},
	} {
		r := session.Request{Model: "s", Messages: []session.Message{user("go")}, Agent: c.agent}
		if text, _, _, done := sum(slices.Collect(p.Stream(t.Context(), r))); text != c.want || done.Err != nil {
			t.Errorf("%q: text %q, done %+v", c.agent, text, done)
		}
	}
	for agent, want := range map[string]string{
		"general: x": `s has no step for the subagent "general: x"`,
		"explore: y": `s has no step 2 for the subagent "explore: y"; its last is 1`,
	} {
		r := session.Request{Model: "s", Messages: []session.Message{user("go")}, Agent: agent}
		wantFailure(t, slices.Collect(p.Stream(t.Context(), r)), want)
	}
	p = script.New(script.Options{Script: []byte("-- explore: 1 --\ntext: x\n")})
	if err := p.Check("s"); err == nil || !strings.Contains(err.Error(), "main conversation") {
		t.Errorf("a script for subagents alone: %v", err)
	}
}
