package markdown

import (
	"strings"
	"testing"
)

// TestRemarked: a remark stands behind its clause, outside of what closes with it, and nowhere when
// it is not clear which words are quoted.
func TestRemarked(t *testing.T) {
	for _, c := range []struct{ text, quotes, want string }{
		{"I fixed it. All tests pass.", "All tests pass", "I fixed it. All tests pass. ‹1›"},
		{"All tests pass and it builds. Done.", "All tests pass|it builds", "All tests pass ‹1› and it builds. ‹2› Done."},
		{"**All tests pass.** Done", "All tests pass", "**All tests pass.** ‹1› Done"},
		{"I ran `go test ./...`, twice.", "I ran go test ./...", "I ran `go test ./...` ‹1›, twice."},
		{"I updated [a.go](https://x.y/z).", "I updated a.go", "I updated [a.go](https://x.y/z). ‹1›"},
		{"It builds—now.", "It builds", "It builds ‹1›—now."},
		{"If tests pass, fine. Tests pass.", "tests pass", "If tests pass ‹1›, fine. Tests pass."},
		{"If tests pass, fine. So tests pass.", "tests pass", "If tests pass, fine. So tests pass."},
		{"It builds. It builds.", "It builds|It builds", "It builds. ‹1› It builds. ‹2›"},
		{"It builds.", "It builds|It builds", "It builds. ‹1› ‹2›"},
		{"Unit tests passed", "tests pass", "Unit tests passed"},
		{"a \ufdd0 b", "x", "a  b"},
		{"line one\n- tests pass  \n- more", "tests pass", "line one\n- tests pass ‹1›  \n- more"},
	} {
		got, placed := Remarked(c.text, strings.Split(c.quotes, "|"))
		got = strings.NewReplacer("\ufdd0", "‹1›", "\ufdd1", "‹2›").Replace(got)
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
		if placed[0] != strings.Contains(c.want, "‹1›") {
			t.Errorf("%q: placed %v", c.text, placed)
		}
	}
}

// TestSignless: a sign that remarks begin with is none in the words of a model.
func TestSignless(t *testing.T) {
	for text, want := range map[string]string{
		"tests pass ✓ go test ./...": "tests pass [x] go test ./...", "✔️ ☑ 🗸 ✗ ✘": "[x] [x] [x] [ ] [ ]", "✅ stays": "✅ stays", "plain": "plain",
	} {
		if got := Signless(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
