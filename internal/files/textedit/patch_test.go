package textedit

import (
	"math/rand/v2"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
)

// A patch that a model disturbs is right or refused: its end is missing, its context is of another
// place, lines are cut off, numbers stand behind @@.
func TestDisturbedPatchesAreRightOrRefused(t *testing.T) {
	seed := effort.Seed(t, rand.Uint64())
	rng := rand.New(rand.NewPCG(seed, 4))
	langs, own := dialects(), sources(t)
	var right, refusals int
	for range 600 {
		s := own[rng.IntN(len(own))]
		if rng.IntN(2) == 0 {
			s = langs[rng.IntN(len(langs))].twins(rng)
		}
		m, ok := newMeant(rng, s)
		if !ok || strings.Contains(m.before(), "\r") {
			continue
		}
		lines := []string{"*** Begin Patch", "*** Update File: " + m.name, "@@"}
		for _, it := range m.items {
			if it.kept() {
				lines = append(lines, " "+it.old)
				continue
			}
			lines = append(lines, "-"+it.old)
			for _, next := range it.next {
				lines = append(lines, "+"+next)
			}
		}
		lines = append(lines, "*** End Patch")
		kind := rng.IntN(6)
		switch kind {
		case 0:
			lines = lines[:len(lines)-1]
		case 1:
			lines[2] = "@@ -10,7 +10,9 @@"
		case 2:
			lines[2] = "@@ " + strings.TrimSpace(s.lines[rng.IntN(len(s.lines))])
		case 3:
			lines = append(lines[:rng.IntN(len(lines))], "*** End Patch")
		case 4:
			lines = append(lines[:len(lines)-1], "*** End of File", "*** End Patch")
		}
		patch, err := ParsePatch(strings.Join(lines, "\n"))
		if err != nil {
			refusals++
			continue
		}
		if kind == 3 {
			continue // a part of the change is a change of its own
		}
		edits, err := patch[0].Edits(m.name, m.before())
		if err != nil {
			refusals++
			continue
		}
		spans, err := Match(Source{Name: m.name, Text: m.before(), Newline: "\n", Read: true}, edits)
		if err != nil {
			refusals++
			continue
		}
		if got := Apply(m.before(), spans); noBlank(got) != noBlank(m.after()) {
			t.Errorf("%s\nGOT\n%s\nWANT\n%s", strings.Join(lines, "\n"), around(got, m.after()), around(m.after(), got))
		}
		right++
	}
	if t.Logf("%d right, %d refused", right, refusals); right < 60 {
		t.Errorf("only %d patches were applied", right)
	}
}
