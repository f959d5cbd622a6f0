package child

import (
	"os"
	"strings"
	"testing"
)

// TestTheLineThatSaysWhy: of what node, python, npx, uvx, go, java and docker write when a program
// does not start.
func TestTheLineThatSaysWhy(t *testing.T) {
	raw, err := os.ReadFile("testdata/stderr.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range strings.Split(string(raw), "\n=== ")[1:] {
		name, rest, _ := strings.Cut(one, "\n")
		want, text, _ := strings.Cut(rest, "\n")
		if got := reason(text + "\n"); "=> "+got != want && "=>"+got != strings.TrimSpace(want) {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
}
