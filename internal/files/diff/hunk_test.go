package diff_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"adze/internal/files/diff"
)

// TestHunksGoBack takes the hunks of random changes back in any order, until the old text is there.
func TestHunksGoBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var a, b []string
		for range r.IntN(60) {
			line := strings.Repeat("x", r.IntN(3)) + "\n"
			switch r.IntN(8) {
			case 0:
				a = append(a, line)
			case 1:
				b = append(b, line)
			default:
				a, b = append(a, line), append(b, line)
			}
		}
		from, now := strings.Join(a, ""), strings.Join(b, "")
		if r.IntN(3) == 0 {
			from = strings.TrimSuffix(from, "\n")
		}
		for n := 0; now != from; n++ {
			hunks := diff.Hunks(diff.Unified(diff.Side{Name: "f", Text: from}, diff.Side{Name: "f", Text: now}).Text)
			h := hunks[r.IntN(len(hunks))]
			if h.New == "" {
				break // all of the file went: that is a file to write
			}
			old, text, err := h.Back(now)
			if err != nil || strings.Count(now, old) != 1 && old != now {
				t.Fatalf("%v: %q in %q for %s", err, old, now, h.Text)
			}
			now = strings.Replace(now, old, text, 1)
			if n > len(a)+len(b) {
				t.Fatalf("%q never becomes %q", now, from)
			}
		}
	}
}

// TestBackRefusesAnother: what was changed since is left alone.
func TestBackRefusesAnother(t *testing.T) {
	h := diff.Hunks("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n")[0]
	if h.Line != 2 || h.Old != "a\nb\n" || h.New != "a\nc\n" {
		t.Errorf("%+v", h)
	}
	if _, _, err := h.Back("a\nd\n"); err == nil || !strings.Contains(err.Error(), "not any more") {
		t.Error(err)
	}
}
