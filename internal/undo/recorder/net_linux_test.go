package recorder

import (
	"strings"
	"testing"
)

// TestNetChangesAreThereOnce: what several turns did to one line, and took back, is one difference
// or none, whoever made it; the newest turn has only its own.
func TestNetChangesAreThereOnce(t *testing.T) {
	p, _, _ := newPlace(t, "printf one > a; printf new > n; chmod +x a b; rm d/c; printf gone > g; ln -s a made")
	err := p.with(t.Context(), func(d Manager) error {
		return p.turn(d, "m2", func() { p.sh(t, "printf two > a; rm g; printf '\\0' > z") })
	})
	if err != nil {
		t.Fatal(err)
	}
	p.sh(t, "printf 'by hand' > h")
	for turn, want := range map[bool]string{
		false: "a mode 644 → 755 a→two; b mode 644 → 755; d/c c→; h →by hand; made link to a; n →new; z not a text, or too large",
		true:  "a one→two; g gone→; h →by hand; z not a text, or too large",
	} {
		err := p.with(t.Context(), func(d Manager) error {
			all, err := d.Net(t.Context(), turn)
			var got []string
			for _, n := range all {
				said := n.Note
				if n.Diff != "" {
					var old, now string
					for line := range strings.SplitSeq(n.Diff, "\n") {
						switch {
						case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
						case strings.HasPrefix(line, "-"):
							old += line[1:]
						case strings.HasPrefix(line, "+"):
							now += line[1:]
						}
					}
					said = strings.TrimSpace(said + " " + old + "→" + now)
				}
				got = append(got, n.Path+" "+said)
			}
			if text := strings.Join(got, "; "); text != want {
				t.Errorf("turn %v: %s, want %s", turn, text, want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
