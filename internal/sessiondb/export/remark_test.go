package export_test

import (
	"strings"
	"testing"

	"adze/internal/sessiondb/export"
	"adze/session"
)

// TestEvidenceInExports: what calls show of an answer stands behind its clauses in the page and
// in a list in Markdown, a model's own sign is written otherwise, and what is read from a file shows nothing.
func TestEvidenceInExports(t *testing.T) {
	l := &log{t: t}
	l.add(session.StartEntry, session.Start{Version: "0.1", Cwd: "/home/ann/code", Model: "p/large"})
	l.says(session.User, "go")
	l.says(session.Assistant, "I fixed it; **all tests pass.** It builds ✓ go build ./...\n\n\ufdd0 I ran `make lint`.")
	l.add(session.EndEntry, session.Result{Cause: session.CauseDone,
		Claims:   []session.Claim{{Kind: session.CommandClaim, Quote: "I ran make lint.", Text: "says that it ran make lint; no call did"}},
		Evidence: []session.Evidence{{Kind: session.TestsClaim, Quote: "all tests pass", Call: "c1", Text: "go test ./..., after the last edit"}}})
	d := of(l.entries)
	for name, text := range forms(t, d) {
		want := map[string][]string{
			"json": {`"evidence"`, `"claims"`},
			"md":   {"**all tests pass.** It builds [x] go build", "- ✗ I ran make lint: no call did", "- ✓ all tests pass: `go test ./...`, after the last edit"},
			"html": {`<strong>all tests pass.</strong> <span class="remark">✓ go test ./..., after the last edit</span> It builds [x] go build`, `<span class="remark">✗ no call did</span>`},
		}[name]
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s lacks %q:\n%s", name, w, text[max(0, len(text)-1500):])
			}
		}
	}
	entries, err := d.Entries(export.ImportOptions{Tools: tools{}, Cwd: "/", Time: at(99)})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(string(e.Data), "evidence") {
			t.Errorf("evidence of a file: %s", e.Data)
		}
	}
}
