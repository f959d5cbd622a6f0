package session_test

import (
	"os"
	"strings"
	"testing"

	"adze/session"
)

// answersOf reads the texts of a file, which stand between lines of dashes.
func answersOf(t *testing.T, name string) []string {
	t.Helper()
	raw, err := os.ReadFile("../testdata/answers/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n---\n")
}

// lostText is an answer of which the server sent less than the model wrote.
func lostText(words string, lost int) func() []session.Chunk {
	return func() []session.Chunk {
		return []session.Chunk{session.Text{Delta: words}, session.Done{Stop: session.StopEnd, Lost: lost, Usage: session.Usage{Input: 10, Output: lost + 3}}}
	}
}

// A call that the server dropped is asked for once, with the names that there are; then the turn
// ends with what happened.
func TestAnAnswerWhoseCallWasDroppedIsNoEnd(t *testing.T) {
	dropped := only(lostText("I call. ", 30)()...)
	few := only(lostText("Now I'll read it:", 8)()...)
	for name, c := range map[string]struct {
		second   session.Cause
		requests int
		text     string
		run      func() *rig
	}{
		"twice":                        {session.CauseNoAnswer, 2, "I call. ", func() *rig { return newRig(t, dropped, dropped) }},
		"then an answer":               {session.CauseDone, 2, "here", func() *rig { return newRig(t, dropped, says(text("here"))) }},
		"then a call":                  {session.CauseDone, 3, "here", func() *rig { return newRig(t, dropped, says(looks("a")), says(text("here"))) }},
		"few tokens and announced":     {session.CauseDone, 2, "here", func() *rig { return newRig(t, few, says(text("here"))) }},
		"few tokens and a whole text":  {session.CauseDone, 1, "It is here.", func() *rig { return newRig(t, only(lostText("It is here.", 8)()...)) }},
		"then nothing at all":          {session.CauseNoAnswer, 2, "", func() *rig { return newRig(t, dropped, says()) }},
		"nothing, then it was dropped": {session.CauseNoAnswer, 2, "I call. ", func() *rig { return newRig(t, says(), dropped) }},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.run()
			res := r.prompt(t, "go")
			wantCause(t, res, c.second)
			wantText(t, "text", res.Text, c.text)
			if len(r.model.requests) != c.requests {
				t.Fatalf("%d requests, want %d", len(r.model.requests), c.requests)
			}
			if c.requests > 1 {
				asked := r.model.requests[1].Messages
				last := asked[len(asked)-1]
				if !last.Note || !strings.Contains(last.Text(), "change") || !strings.Contains(last.Text(), "exactly these names") {
					t.Errorf("the model was told %+v", last)
				}
			}
			if c.second != session.CauseDone && (res.Message == "" || res.Hint == "") {
				t.Errorf("%+v", res)
			}
		})
	}
}

// Answers in many languages are accepted as they are, whatever they end with; announcements and
// calls that nobody could read are not.
func TestWhichAnswersAreInDoubt(t *testing.T) {
	for file, requests := range map[string]int{"accepted.txt": 1, "doubted.txt": 2} {
		for _, answer := range answersOf(t, file) {
			r := newRig(t, only(session.Text{Delta: answer}, session.Done{Stop: session.StopEnd, TextCalls: true}), says(text("here")))
			res := r.prompt(t, "go")
			if wantCause(t, res, session.CauseDone); len(r.model.requests) != requests {
				t.Errorf("%s: %d requests for %q", file, len(r.model.requests), answer)
			}
		}
	}
}

// Markup that nobody looked for is text: the user has turned calls written as text off, or the
// model has no need of them.
func TestMarkupThatNobodyReadsIsText(t *testing.T) {
	r := newRig(t, says(text("I look.\n<tool_call>{\"name\": \"change\", \"arguments\": {}}</tool_call>")))
	if res := r.prompt(t, "go"); res.Cause != session.CauseDone || len(r.model.requests) != 1 {
		t.Errorf("%d requests, %+v", len(r.model.requests), res)
	}
}
