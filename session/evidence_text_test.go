package session_test

import (
	"testing"

	"adze/session"
)

// TestEvidenceText: the list for a commit message names each clause once, and no quote of a model
// brings a sign, an element or a picture along.
func TestEvidenceText(t *testing.T) {
	got := session.EvidenceText(
		[]session.Evidence{{Quote: "All tests pass", Text: "go test ./..., after the last edit"}, {Quote: "I updated a.go", Text: "edit"}, {Quote: "x ran", Text: "echo `a`"}},
		[]session.Claim{{Quote: "I ran\n`make` ✓ <img> ![x](y).", Text: "says that it ran make; no call did"}, {Quote: "See a.go:3", Text: "names a line of a.go, which was never read"}})
	want := "- ✓ All tests pass: `go test ./...`, after the last edit\n- ✓ I updated a.go: `edit`\n- ✓ x ran: `` echo `a` ``\n" +
		"- ✗ I ran `make` [x] &lt;img> !\\[x]\\(y): no call did\n- ✗ See a.go:3: names a line of a.go, which was never read\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := session.EvidenceText(nil, nil); got != "" {
		t.Errorf("%q", got)
	}
}
