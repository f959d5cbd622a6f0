package policy

import (
	"context"
	"testing"

	"adze/tool"
)

// A program that only looks may run while a plan is made, because its words are read and guarded. A
// declared tool runs them as they stand, so it does not: neither by the table nor by a rule.
func TestADeclaredToolDoesNotRunWhileAPlanIsMade(t *testing.T) {
	need := []tool.Need{{Permission: tool.Execute, Target: "git status"}}
	for _, rules := range [][]string{nil, {"allow execute(git **)"}} {
		p := newPolicy(t, Plan, nil, rules...)
		if d := decide(t, p, tool.Question{Needs: need}); !d.Allow {
			t.Fatalf("bash, with %v: %+v", rules, d)
		}
		declared := tool.Definition{Name: "state", Tags: []string{tool.Declared}}
		if d := decide(t, p, tool.Question{Tool: declared, Needs: need}); rank(d) != 0 || d.Layer != "mode plan" {
			t.Errorf("with %v: %+v", rules, d)
		}
	}
}

// The mode that holds when a user has answered is what counts: they may have changed it, or another
// interface did.
func TestAYesDoesNotOutliveTheMode(t *testing.T) {
	for _, choice := range []Choice{Once, Session} {
		var p *Policy
		p = newPolicy(t, AskFirst, func(context.Context, tool.Question, Prompt) (Answer, error) {
			return Answer{Choice: choice}, p.SetMode(Plan)
		})
		if d := decide(t, p, run("make")); d.Allow || d.Layer != "mode plan" {
			t.Errorf("%s: %+v", choice, d)
		}
	}
}

// What a call of the session started is ended without a question, but not while nothing is to
// change.
func TestTheEndOfAJobIsAChange(t *testing.T) {
	for _, mode := range Modes() {
		want := 2
		if Mode(mode) == Plan {
			want = 0
		}
		ends := []tool.Need{{Permission: tool.Execute, Target: "the end of job1", Reach: tool.OwnStart}}
		if d := decide(t, newPolicy(t, Mode(mode), nil), tool.Question{Needs: ends}); rank(d) != want {
			t.Errorf("%s: %+v", mode, d)
		}
		for _, kind := range []tool.Permission{tool.Read, tool.Write, tool.Network} {
			other := []tool.Need{{Permission: kind, Target: "x", Reach: tool.OwnStart}}
			if d := decide(t, newPolicy(t, Mode(mode), nil), tool.Question{Needs: other}); d.Allow {
				t.Errorf("%s of what was started, in %s: %+v", kind, mode, d)
			}
		}
	}
}
