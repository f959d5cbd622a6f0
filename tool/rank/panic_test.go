package rank_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"adze/tool"
	"adze/tool/rank"
)

// fuse is a scorer that panics in one of its parts.
type fuse struct{ where string }

func (f fuse) blow(here string) {
	if f.where == here {
		panic("boom in " + here)
	}
}

func (f fuse) Name() string { f.blow("Name"); return "fuse" }

func (f fuse) Index(context.Context, []tool.Definition) (rank.Index, error) {
	f.blow("Index")
	if f.where == "nil index" {
		return nil, nil
	}
	return f, nil
}

func (f fuse) Score(context.Context, string) (rank.Scores, error) {
	f.blow("Score")
	s := rank.Scores{Values: []float64{1, 0.5}, Explain: func(int) string { f.blow("Explain"); return "fits" }}
	return s, nil
}

// A scorer that panics ends one pick: the tools come in their order, and the reason is told.
func TestAPanickingScorerEndsOnePick(t *testing.T) {
	defs := []tool.Definition{{Name: "one"}, {Name: "two"}}
	for _, where := range []string{"Name", "Index", "nil index", "Score", "Explain"} {
		for _, timeout := range []time.Duration{0, time.Minute} {
			picker := rank.New(defs, fuse{where})
			got := picker.Pick(t.Context(), "one", rank.Options{AllowUnsafe: true, Timeout: timeout})
			if len(got) != 2 || got[0].Definition.Name != "one" {
				t.Fatalf("%s: %+v", where, got)
			}
			told := got[0].Provenance.Fallback + got[0].Reason
			if where != "Name" && !strings.Contains(told, "failed inside") {
				t.Errorf("%s: nobody is told: %q", where, told)
			}
		}
	}
}
