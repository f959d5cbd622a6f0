package policy

import (
	"context"
	"errors"
	"testing"

	"adze/tool"
)

// TestNobodyIsAskedAboutWhatCannotWork holds the order: a deny comes first, then what a check
// finds, then the user.
func TestNobodyIsAskedAboutWhatCannotWork(t *testing.T) {
	for _, c := range []struct {
		name   string
		mode   Mode
		rule   string
		person bool
		checks int
		code   string
		layer  Layer
	}{
		{"asked", AskFirst, "", true, 1, tool.CodeStale, builtIn},
		{"denied first", AskFirst, "deny write(a)", true, 0, "", CommandLine},
		{"the mode first", Plan, "", true, 0, "", "mode plan"},
		{"nobody there", AskFirst, "", false, 0, "", "mode ask"},
	} {
		s := &answers{}
		ask := s.ask
		if !c.person {
			ask = nil
		}
		var rules []string
		if c.rule != "" {
			rules = append(rules, c.rule)
		}
		checks := 0
		d := decide(t, newPolicy(t, c.mode, ask, rules...), tool.Question{
			Needs: []tool.Need{{Permission: tool.Write, Target: "a"}},
			Check: func(context.Context, func(tool.Need) bool) error {
				checks++
				return tool.Fail(tool.CodeStale, "it changed")
			},
		})
		if d.Allow || d.Code != c.code || d.Layer != string(c.layer) || checks != c.checks || len(s.prompts) != 0 {
			t.Errorf("%s: %+v, %d checks, asked %d times", c.name, d, checks, len(s.prompts))
		}
	}
}

// TestAllowedCallsAreNotChecked: Run looks itself, and nothing is done twice where nobody is asked.
func TestAllowedCallsAreNotChecked(t *testing.T) {
	d := decide(t, newPolicy(t, Edits, nil), tool.Question{
		Needs: []tool.Need{{Permission: tool.Write, Target: "a"}},
		Check: func(context.Context, func(tool.Need) bool) error { return errors.New("checked") },
	})
	if !d.Allow {
		t.Errorf("%+v", d)
	}
}

// TestAChecksLooksAreJudged: it sees what the call could read without a question, and nothing else.
func TestAChecksLooksAreJudged(t *testing.T) {
	s := &answers{answers: []Answer{{Choice: Once}}}
	p := newPolicy(t, AskFirst, s.ask, "deny read(b)", "ask read(c)")
	d := decide(t, p, tool.Question{
		Needs: []tool.Need{{Permission: tool.Write, Target: "a"}},
		Check: func(_ context.Context, may func(tool.Need) bool) error {
			for target, want := range map[string]bool{"a": true, "b": false, "c": false, ".env": false, "/etc/passwd": false} {
				if got := may(tool.Need{Permission: tool.Read, Target: target}); got != want {
					t.Errorf("may read %s: %v", target, got)
				}
			}
			if may(tool.Need{Permission: tool.Write, Target: "a"}) || may(tool.Need{Permission: tool.Read, Reach: tool.Anything}) {
				t.Error("a check may do what is asked for")
			}
			return nil
		},
	})
	if !d.Allow || !d.Asked || len(s.prompts) != 1 {
		t.Errorf("%+v, asked %d times about the call, and about nothing else", d, len(s.prompts))
	}
}

// TestThePersonsTimeIsTold: the wait for another question counts as one for a user, too.
func TestThePersonsTimeIsTold(t *testing.T) {
	began, ended := 0, 0
	s := &answers{answers: []Answer{{Choice: No, Reason: "use make"}}}
	d := decide(t, newPolicy(t, AskFirst, s.ask), tool.Question{
		Needs: run("go build").Needs,
		Waits: func() func() { began++; return func() { ended++ } },
	})
	if began != 1 || ended != 1 || d.Reply != "use make" {
		t.Errorf("began %d, ended %d, %+v", began, ended, d)
	}
}
