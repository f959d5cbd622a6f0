package draw

import (
	"testing"

	"adze/internal/text/safeterm"
)

// TestWidthsAreThoseOfTheTerminal: the cells by character are where the cursor of tmux 3.3a and 3.8
// stands behind the text (both agree), those by grapheme cluster are those of mode 2027.
func TestWidthsAreThoseOfTheTerminal(t *testing.T) {
	for text, want := range map[string][2]int{
		"क्षि":               {3, 1},
		"नमस्ते":             {4, 3},
		"กำ":                 {2, 1},
		"க்ஷி":               {3, 2},
		"\u1112\u1161\u11ab": {2, 2},
		"e\u0301":            {1, 1},
		"日本":                 {4, 4},
		"🇩🇪":                 {2, 2},
		"👩‍💻":                {2, 2},
		"plain":              {5, 5},
	} {
		for i, c := range []Cells{ByCharacter, !ByCharacter} {
			row := (&Theme{counts: c}).Line(Plain, safeterm.Clean(text))
			if row.Width() != want[i] {
				t.Errorf("%q takes %d cells, want %d; by grapheme cluster: %v", text, row.Width(), want[i], c)
			}
			if cut := row.Fit(want[i] - 1); cut.Width() > want[i]-1 {
				t.Errorf("%q cut to %d cells takes %d", text, want[i]-1, cut.Width())
			}
		}
	}
}
