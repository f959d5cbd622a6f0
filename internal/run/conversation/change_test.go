package conversation

import (
	"context"
	"errors"
	"strings"
	"testing"

	"adze/internal/stream/ask"
	"adze/tool"
)

// A choice of hunks that cannot be followed is no lost question, and is never done to another
// change than was seen.
func TestWhatCannotBeFollowedIsAskedAgain(t *testing.T) {
	diff := "@@ -1 +1 @@\n-a\n+b\n"
	broken := errors.New("nothing is left of the change")
	var taken []int
	a := ask.Permission{Preview: []tool.Block{{Kind: tool.DiffBlock, Text: "@@ -1 +1 @@\n-old\n+b\n"}}}
	a.Question.Preview = func(context.Context) []tool.Block { return []tool.Block{{Kind: tool.DiffBlock, Text: diff}} }
	a.Question.WithoutHunks = func(_ context.Context, refused []int, why string) (*tool.Change, error) {
		taken = append(taken, refused...)
		if why == "" {
			return nil, broken
		}
		return &tool.Change{Note: why}, nil
	}
	var problems []string
	replies := []ask.Answer{{Refused: []int{1}}, {Refused: []int{2}}, {Refused: []int{3}, Reason: "so"}}
	_, change, err := askFor(t.Context(), func(_ context.Context, a ask.Permission) (ask.Answer, error) {
		problems = append(problems, a.Problem)
		if len(problems) > 1 && a.Preview[0].Text != diff {
			t.Error("the change that it has become is not shown")
		}
		r := replies[len(problems)-1]
		r.Choice = ask.Once
		return r, nil
	}, a)
	if err != nil || change == nil || change.Note != "so" {
		t.Fatalf("%v %v", change, err)
	}
	if got := strings.Join(problems, "|"); got != "|"+errOther.Error()+"|"+broken.Error() {
		t.Errorf("told %q", got)
	}
	if len(taken) != 2 || taken[0] != 2 || taken[1] != 3 {
		t.Errorf("took out %v", taken)
	}
}

// An answer that says no, or yes as it is, changes nothing.
func TestAPlainAnswerChangesNothing(t *testing.T) {
	for _, choice := range []ask.Choice{ask.Deny, ask.Once, ask.ForSession} {
		_, change, err := askFor(t.Context(), func(context.Context, ask.Permission) (ask.Answer, error) {
			return ask.Answer{Choice: choice}, nil
		}, ask.Permission{})
		if change != nil || err != nil {
			t.Errorf("%d: %v %v", choice, change, err)
		}
	}
}
