package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The words of the interface are plain: each is drawn by a golden, and the words that it replaced
// stand nowhere.
func TestPlainWords(t *testing.T) {
	files, err := filepath.Glob("../testdata/screen/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	drawn := ""
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, wants, ok := strings.Cut(string(raw), "\n-- want."); ok {
			drawn += wants
		}
	}
	for _, w := range []struct{ was, is string }{
		{"sandbox none", "not sandboxed"},
		{"needs approval: bash", "Run this command?"},
		{"permission: ", "Edit this file?"},
		{"1 step, 0 calls", "1 request, 0 tools"},
		{" in the background ─", "1 job"},
		{"more wait ", "2 more waiting"},
		{"joined the conversation", "told the model: "},
		{"tokens became", "k tokens"},
		{"put back 1 path", "restore "},
		{"the agent works; it puts its plan to you", "busy; /plan when it stops"},
		{"for this session: allow", "allow all edits in this folder  write(work:**)"},
		{"covers the same words again", "exactly this command"},
		{"c change it", "e edit"},
		{"<U+000A>", "⏎"},
		{"a word that is known only when it runs", "contains $i, so no rule can cover it"},
		{"how much the model takes is not known", "context limit unknown"},
		{"End to the end", "End: latest"},
		{"enter does it", "enter: select"},
		{"refuse or keep", "space: keep / drop"},
		{"  waits\n", "needs your OK"},
	} {
		if !strings.Contains(drawn, w.is) {
			t.Errorf("no golden shows %q", w.is)
		}
		if strings.Contains(drawn, w.was) {
			t.Errorf("a golden still shows %q", w.was)
		}
	}
}
