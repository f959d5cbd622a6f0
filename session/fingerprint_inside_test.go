package session

import (
	"fmt"
	"strings"
	"testing"

	"adze/tool"
)

func conversation(messages, size int) Request {
	r := Request{System: "be good", ToolsDigest: "d"}
	for i := range messages {
		o := tool.Outcome{Call: "c", Tool: "read", Status: tool.Completed, Output: strings.Repeat("x", size)}
		r.Messages = append(r.Messages, Message{ID: fmt.Sprint("m", i), Role: ToolRole, Parts: []Part{{Kind: OutcomePart, Outcome: &o}}})
	}
	return r
}

// The memory of hashes never changes an answer: not when the history grows, shrinks, or holds
// another message under an old id.
func TestRememberedHashesEqualFreshOnes(t *testing.T) {
	f := &fingerprints{}
	long := conversation(9, 10)
	cut := conversation(9, 10)
	cut.Messages[3].Parts = []Part{{Kind: OutcomePart, Outcome: &tool.Outcome{Output: "(cut)"}}}
	short := conversation(4, 10)
	mixed := Request{Messages: append(append([]Message{}, long.Messages[:5]...), short.Messages...)}
	seen := map[string]int{}
	for i, r := range []Request{long, short, {}, long, cut, long, mixed, cut, {Messages: []Message{{ID: "m0"}}}} {
		got, want := f.promptHash(r), (&fingerprints{}).promptHash(r)
		if got != want {
			t.Errorf("request %d: %s remembered, %s fresh", i, got, want)
		}
		seen[got]++
	}
	if len(seen) != 6 {
		t.Errorf("%d different hashes, want 6: %v", len(seen), seen)
	}
}

// BenchmarkPromptHash is what the hash adds to a request at the end of 400 turns of 4 kB.
func BenchmarkPromptHash(b *testing.B) {
	r := conversation(800, 4000)
	b.Run("all is new", func(b *testing.B) {
		for b.Loop() {
			(&fingerprints{}).promptHash(r)
		}
	})
	b.Run("one is new", func(b *testing.B) {
		f := &fingerprints{}
		for b.Loop() {
			f.promptHash(Request{Messages: r.Messages[:799]})
			f.promptHash(r)
		}
	})
}
