package session

import (
	"strings"
	"testing"
)

// The last sentence of a long answer is looked for at its end: what is looked at does not grow with
// the answer.
func TestTheLastSentenceIsLookedForAtTheEnd(t *testing.T) {
	long := strings.Repeat("word ü ", 20_000)
	for text, want := range map[string]string{
		long:                            "",
		"Let me " + long:                "",
		long + ". Let me read the file": "let me read the file",
		long[:2000] + "end":             strings.TrimSpace(long[:2000]) + " end",
	} {
		if got := lastSentence(text); got != want {
			t.Errorf("of %d bytes it is %.40q (%d bytes), want %.40q", len(text), got, len(got), want)
		}
	}
}
