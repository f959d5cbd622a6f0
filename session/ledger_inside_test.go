package session

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/tool"
)

func TestTheProvidersCountCorrectsTheEstimate(t *testing.T) {
	type request struct {
		bytes int
		usage Usage
	}
	in := func(n int) Usage { return Usage{Input: n} }
	for _, c := range []struct {
		name     string
		requests []request
		factor   float64
		counted  int
	}{
		{"nobody counted", nil, 1, 0},
		{"the first count is taken as it is", []request{{8000, in(2260)}}, 1.13, 1},
		{"the cache is part of what was sent", []request{{8000, Usage{Input: 60, CacheRead: 2000, CacheWrite: 200, Output: 9999}}}, 1.13, 1},
		{"the newest counts", []request{{8000, in(2000)}, {8000, in(3000)}, {8000, in(4000)}}, 2, 3},
		{"a conversation that was summed up has the tokens of its tools", []request{{8000, in(1600)}, {208000, in(81600)}}, 0.8, 2},
		{"a missing count", []request{{8000, in(2400)}, {8000, Usage{Output: 7}}}, 1.2, 1},
		{"a negative count", []request{{8000, Usage{Input: -5, CacheRead: 4000}}}, 1, 0},
		{"a count of the uncached rest", []request{{8000, in(2400)}, {80000, in(300)}}, 1.2, 1},
		{"more tokens than bytes", []request{{8000, in(8001)}}, 1, 0},
		{"an overflow", []request{{8000, Usage{Input: math.MaxInt, CacheRead: math.MaxInt}}}, 1, 0},
		{"at the bounds", []request{{4000, in(4000)}, {4000, in(250)}}, 0.25, 2},
		{"too small to tell", []request{{999, in(300)}}, 1, 0},
	} {
		var got correction
		for _, r := range c.requests {
			got.learn(r.bytes, r.usage)
		}
		if factor := got.factor(8000); math.Abs(factor-c.factor) > 1e-9 || got.requests != c.counted {
			t.Errorf("%s: ×%.4f of %d requests, want ×%.4f of %d", c.name, factor, got.requests, c.factor, c.counted)
		}
	}
}

func attached(media string, n int) Part {
	return Part{Kind: AttachmentPart, Attachment: &tool.Attachment{Name: "a.go", MediaType: media, Data: make([]byte, n)}}
}

func TestTheLedgerTellsSourcesApart(t *testing.T) {
	text := func(n int) Part { return Part{Kind: TextPart, Text: strings.Repeat("x", n)} }
	thought := Part{Kind: ReasoningPart, Text: strings.Repeat("x", 30), Opaque: json.RawMessage(`"sealed.."`)}
	outcome := func(name string, n int, with ...tool.Attachment) Part {
		return Part{Kind: OutcomePart, Outcome: &tool.Outcome{Tool: name, Output: strings.Repeat("x", n), Title: "not sent", Attachments: with}}
	}
	for _, c := range []struct {
		name string
		m    Message
		want string
	}{
		{"what the person wrote", Message{Role: User, Parts: []Part{text(400)}}, "messages/your messages 100"},
		{"a command of their own", Message{Role: User, OwnCall: "c", Parts: []Part{text(400)}}, "messages/your commands 100"},
		{"a picture, whatever its size", Message{Role: User, Parts: []Part{attached("image/png", 9), attached("image/jpeg", 9e6)}}, "messages/pictures 3000"},
		{"a small document", Message{Role: User, Parts: []Part{attached("application/pdf", 9)}}, "messages/documents 1500"},
		{"a large document", Message{Role: User, Parts: []Part{attached("application/pdf", 250<<10)}}, "messages/documents 4500"},
		{"a file of text", Message{Role: User, Parts: []Part{attached("text/plain; charset=utf-8", 396)}}, "messages/attached files 100"},
		{"a file that no model can read", Message{Role: User, Parts: []Part{attached("application/zip", 9e6)}}, "messages/attached files 25"},
		{"an answer", Message{Role: Assistant, Provider: "p", Parts: []Part{text(400), thought, {Kind: CallPart, Call: &tool.RawCall{ID: "c", Name: "read", Arguments: strings.Repeat("x", 36)}}}},
			"messages/answers 100, messages/thoughts 10, messages/calls 10"},
		{"notes by their origin", Message{Role: User, Note: true, Notes: []Note{{Source: "a"}, {Source: "b"}}, Parts: []Part{{Kind: TextPart, Text: strings.Repeat("x", 32) + noteEnd + noteEnd}}},
			"messages/note from a 10, messages/note from b 2"},
		{"a note that was edited", Message{Role: User, Note: true, Notes: []Note{{Source: "a"}, {Source: "b"}}, Parts: []Part{text(40)}}, "messages/note from a 10"},
		{"thoughts of another provider are not sent", Message{Role: Assistant, Provider: "q", Parts: []Part{thought}}, ""},
		{"results by tool", Message{Role: ToolRole, Parts: []Part{outcome("read", 400), outcome("grep", 40), outcome("read", 4), outcome("bash", 0)}}, "results/read 101, results/grep 10"},
		{"a picture that a tool returned", Message{Role: ToolRole, Parts: []Part{outcome("read", 4, tool.Attachment{MediaType: "image/png"})}}, "results/read 1, results/pictures 1500"},
	} {
		l := ledger{provider: "p"}
		l.sync([]Message{c.m})
		var got []string
		for _, s := range l.snapshot().Sources {
			got = append(got, fmt.Sprintf("%s/%s %d", s.Group, s.Name, s.Tokens))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %s, want %s", c.name, strings.Join(got, ", "), c.want)
		}
	}
}

func TestTheLedgerTellsWhatEveryRequestHolds(t *testing.T) {
	l := ledger{provider: "p", model: "m"}
	tools := []tool.Definition{{Name: "read", Description: strings.Repeat("d", 36), Parameters: json.RawMessage(strings.Repeat("s", 360))}, {Name: "grep"}}
	pieces := func(string) []Piece {
		return []Piece{{Kind: "prompt", Name: "prompt", Bytes: 100}, {Kind: "instructions", Name: "AGENTS.md", Path: "/w/AGENTS.md", Bytes: 60}}
	}
	l.fix(strings.Repeat("s", 200), "d1", tools, pieces)
	l.fix(strings.Repeat("s", 200), "d1", nil, nil) // the same: not counted again
	l.correction = correction{newest: sentSize{4000, 1500}, least: sentSize{4000, 1500}, requests: 1}
	want := []Source{{SystemGroup, "prompt", "prompt", "", 100, 38}, {SystemGroup, "instructions", "AGENTS.md", "/w/AGENTS.md", 60, 23}, {SystemGroup, "prompt", "prompt", "", 40, 15},
		{ToolsGroup, "", "read", "", 400, 150}, {ToolsGroup, "", "grep", "", 4, 2}}
	got := l.snapshot()
	if d := cmp.Diff(want, got.Sources); d != "" || got.Estimate != 227 {
		t.Errorf("%d tokens (-want +got):\n%s", got.Estimate, d)
	}
	l.fix("none", "d2", nil, nil)
	if got := l.snapshot(); got.Estimate != 2 || len(got.Sources) != 1 {
		t.Errorf("after a change: %+v", got)
	}
}

// Whatever happens to a conversation, the ledger is what a fresh one would be.
func TestTheLedgerFollowsTheConversation(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	l := ledger{provider: "p"}
	var history []Message
	for step := range 400 {
		switch n := len(history); random.IntN(4) {
		case 0: // taken back
			history = history[:random.IntN(n+1)]
		case 1: // something in the middle is cut
			if n > 0 {
				changed := append([]Message(nil), history...)
				at := random.IntN(n)
				changed[at].Parts = []Part{{Kind: TextPart, Text: "(cut)"}}
				history = changed
			}
		default:
			role := []Role{User, Assistant}[random.IntN(2)]
			history = append(history, Message{ID: fmt.Sprint("m", step), Role: role, Parts: []Part{{Kind: TextPart, Text: strings.Repeat("x", random.IntN(90))}}})
		}
		l.sync(history)
		fresh := ledger{provider: "p"}
		fresh.sync(history)
		at := random.IntN(len(history) + 1)
		if l.bytes() != fresh.bytes() || len(l.messages) != len(history) || l.tokensSince(at) != fresh.tokensSince(at) {
			t.Fatalf("step %d: %d bytes of %d messages, a fresh ledger has %d of %d", step, l.bytes(), len(l.messages), fresh.bytes(), len(history))
		}
		sum := 0
		for _, c := range l.sources {
			sum += c.bytes
		}
		if sum != l.bytes() {
			t.Fatalf("step %d: the sources are %d bytes, the conversation %d", step, sum, l.bytes())
		}
	}
}

// A message is looked into once: what stands in it later does not matter, and costs nothing.
func TestALedgerCountsAMessageOnce(t *testing.T) {
	l := ledger{}
	var history []Message
	for i := range 100 {
		history = append(history, Message{ID: fmt.Sprint("m", i), Role: User, Parts: []Part{{Kind: TextPart, Text: "four"}}})
		l.sync(history)
		history[i].Parts[0].Text = "many more than four bytes"
	}
	if got := l.bytes(); got != 400 {
		t.Errorf("%d bytes: messages were counted again", got)
	}
}

func TestTheFillIsToldOnceAtEachStep(t *testing.T) {
	l := ledger{provider: "p", window: 1000}
	at := func(percent int) string {
		l.sync([]Message{{ID: fmt.Sprint(percent), Role: User, Parts: []Part{{Kind: TextPart, Text: strings.Repeat("x", 40*percent)}}}})
		return l.warning()
	}
	for _, c := range []struct {
		percent int
		want    string
	}{
		{50, ""}, {79, ""}, {80, "80% full: about 800 of 1000"}, {90, ""}, {96, "96% full: about 960 of 1000"}, {97, ""},
		{130, "holds about 1300 tokens, and the model takes 1000"}, {140, ""}, {70, ""}, {85, "85% full"}, {101, "may be refused"},
	} {
		if got := at(c.percent); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("at %d%%: %q, want %q", c.percent, got, c.want)
		}
	}
	l.window = 0
	if got := at(500); got != "" {
		t.Errorf("without a known window: %q", got)
	}
}

// BenchmarkLedger is what the ledger adds to the last of 100 turns of 1 MB each.
func BenchmarkLedger(b *testing.B) {
	r := conversation(200, 1<<20)
	l := ledger{provider: "p"}
	l.sync(r.Messages)
	b.ReportAllocs()
	for b.Loop() {
		l.sync(r.Messages[:199])
		l.sync(r.Messages)
		l.snapshot()
	}
}
