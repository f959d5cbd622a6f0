package pick_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"adze/tool"
	"adze/tool/pick"
)

// fuse is a scorer that panics in one of its parts.
type fuse struct{ where string }

func (f fuse) blow(here string) {
	if f.where == here {
		panic("boom in " + here)
	}
}

func (f fuse) Name() string { f.blow("Name"); return "fuse" }

func (f fuse) Index(context.Context, []tool.Definition) (pick.Index, error) {
	f.blow("Index")
	if f.where == "nil index" {
		return nil, nil
	}
	return f, nil
}

func (f fuse) Score(context.Context, string) (pick.Scores, error) {
	f.blow("Score")
	s := pick.Scores{Values: []float64{1, 0.5}, Explain: func(int) string { f.blow("Explain"); return "fits" }}
	return s, nil
}

// A scorer that panics ends one pick: the tools come in their order, and the reason is told.
func TestAPanickingScorerEndsOnePick(t *testing.T) {
	defs := []tool.Definition{{Name: "one"}, {Name: "two"}}
	for _, where := range []string{"Name", "Index", "nil index", "Score", "Explain"} {
		for _, timeout := range []time.Duration{0, time.Minute} {
			picker := pick.New(defs, fuse{where})
			got := picker.Pick(t.Context(), "one", pick.Options{AllowUnsafe: true, Timeout: timeout})
			if len(got) != 2 || got[0].Definition.Name != "one" {
				t.Fatalf("%s: %+v", where, got)
			}
			told := got[0].Provenance.Fallback + got[0].Reason
			if where != "Name" && !strings.Contains(told, "failed inside") {
				t.Errorf("%s: nobody is told: %q", where, told)
			}
		}
		mixed := pick.Hybrid{Parts: []pick.Weighted{{Scorer: fuse{where}}, {Scorer: pick.Keyword{}}}}
		if got := pick.Tools(t.Context(), "one", defs, pick.Options{AllowUnsafe: true, Scorer: mixed}); len(got) == 0 {
			t.Errorf("%s in a hybrid: nothing is picked", where)
		}
	}
}
