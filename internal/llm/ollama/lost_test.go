package ollama

import (
	"os"
	"strings"
	"testing"

	"adze/internal/testkit/llmtest"
)

func answers(t *testing.T, name string) []string {
	t.Helper()
	raw, err := os.ReadFile("../../../testdata/answers/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n---\n")
}

// tallied is a tally of tokens that come in records of some.
func tallied(tokens []string, piece int) *tally {
	var r tally
	for len(tokens) > 0 {
		n := min(piece, len(tokens))
		r.take(strings.Join(tokens[:n], ""), "")
		tokens = tokens[n:]
	}
	return &r
}

// pieces are how many tokens a record has: one, as real servers send them, some, or all in one.
var pieces = []int{1, 2, 3, 7, 1000}

// Nothing is lost of whole answers in many languages, however the server cuts them into records,
// also where it took some marks out.
func TestNothingIsLostOfAWholeAnswer(t *testing.T) {
	const marks = 4
	for _, text := range answers(t, "accepted.txt") {
		tokens := llmtest.OllamaTokens(text)
		for _, piece := range pieces {
			if n := tallied(tokens, piece).lost(len(tokens) + 1 + marks); n > marks+1 {
				t.Errorf("%d of %d tokens are lost in records of %d: %q", n, len(tokens), piece, text)
			}
		}
	}
}

// A dropped call shows behind any words, as servers send them.
func TestADroppedCallShows(t *testing.T) {
	const call = "<tool_call>\n{\"name\": \"open_file\", \"arguments\": {\"path\": \"main.go\"}}\n</tool_call>"
	dropped := len(llmtest.OllamaTokens(call))
	for _, words := range []string{"I call. ", "Let me look at the file to see what is in there, and then I will change what is wrong with it.",
		"I think the best way is to open the file first. The error says that the name is not defined, so it must be missing there.",
		"Ich öffne zuerst die Datei, um zu sehen, was darin steht, und ändere sie dann. "} {
		tokens := llmtest.OllamaTokens(words)
		if n := tallied(tokens, 1).lost(len(tokens) + dropped + 1); n < 14 {
			t.Errorf("%d tokens are lost behind %q, want %d", n, words, dropped)
		}
	}
}
