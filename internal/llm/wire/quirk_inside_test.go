package wire

import (
	"testing"

	"adze/session"
)

// A refusal teaches each quirk once: the same request is not sent again where the server is known
// for it.
func TestAQuirkIsLearnedOnce(t *testing.T) {
	a := &Adapter{ServerQuirks: Quirks{"usual": true}, Quirks: []Quirk{{Name: "usual", RefusalWords: [][]string{{"reasoning"}}}, {Name: "other", RefusalWords: [][]string{{"effort"}, {"unknown"}}}}}
	m := mender{adapter: a}
	refused := func(text string) *Refusal { return &Refusal{Status: 400, Failed: session.RequestError, Text: text} }
	for _, c := range []struct {
		text    string
		learned bool
	}{{"reasoning is not taken", false}, {"effort is taken", false}, {"unknown effort", true}, {"unknown effort", false}} {
		if m.format(refused(c.text)) != c.learned {
			t.Errorf("%s: learned is not %v", c.text, c.learned)
		}
	}
	if all := m.fit.Quirks; !all["other"] || len(all) != 1 || len(a.ServerQuirks) != 1 {
		t.Errorf("learned are %v; the server's own are %v", all, a.ServerQuirks)
	}
}
