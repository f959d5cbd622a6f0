package policy

import (
	"strings"
	"testing"

	"adze/tool"
)

// What is said of a need that may be anything: no rule allows it, every deny counts where nobody
// would be asked.
func TestAnythingIsAskedForInEveryMode(t *testing.T) {
	kinds := []tool.Permission{tool.Read, tool.Write, tool.Execute, tool.Network}
	all := []string{"allow read", "allow write", "allow execute", "allow network"}
	for _, kind := range kinds {
		q := tool.Question{Needs: []tool.Need{{Permission: kind, Reach: tool.Anything}}}
		for _, mode := range Modes() {
			for _, rules := range [][]string{nil, all} {
				want := 1
				switch {
				case Mode(mode) == Yolo:
					want = 2
				case Mode(mode) == Plan && (kind == tool.Write || kind == tool.Execute):
					want = 0
				}
				if d := decide(t, newPolicy(t, Mode(mode), nil, rules...), q); rank(d) != want {
					t.Errorf("%s in %s with %v: %+v", kind, mode, rules, d)
				}
			}
		}
		if d := decide(t, newPolicy(t, AskFirst, nil, "deny "+string(kind)), q); rank(d) != 0 {
			t.Errorf("%s is denied as such: %+v", kind, d)
		}
	}
	for _, c := range []struct {
		need tool.Permission
		mode Mode
		rule string
		want int
	}{
		{tool.Read, Yolo, "deny read(**/.env)", 0}, {tool.Read, AskFirst, "deny read(**/.env)", 1},
		{tool.Execute, Yolo, "deny execute(rm **)", 0}, {tool.Network, Yolo, "deny network(a.example)", 0},
		{tool.Write, Yolo, "deny read(**/.env)", 2},
	} {
		q := tool.Question{Needs: []tool.Need{{Permission: c.need, Reach: tool.Anything}}}
		if d := decide(t, newPolicy(t, c.mode, nil, c.rule), q); rank(d) != c.want {
			t.Errorf("%s in %s under %q: %+v", c.need, c.mode, c.rule, d)
		}
	}
}

// State is read without asking; the word opens nothing else.
func TestStateIsOnlyRead(t *testing.T) {
	for _, mode := range Modes() {
		p := newPolicy(t, Mode(mode), nil, "allow write", "allow execute")
		if d := decide(t, p, tool.Question{Needs: tool.StateNeed("the todo list")}); rank(d) != 2 {
			t.Errorf("%s: %+v", mode, d)
		}
		for _, kind := range []tool.Permission{tool.Write, tool.Execute, tool.Network} {
			if d := decide(t, p, tool.Question{Needs: []tool.Need{{Permission: kind, Target: "a", Reach: tool.State}}}); rank(d) != 0 {
				t.Errorf("%s of state in %s: %+v", kind, mode, d)
			}
		}
		if d := decide(t, p, tool.Question{Needs: []tool.Need{{Permission: tool.Read, Target: "a", Reach: "somewhere"}}}); rank(d) != 0 {
			t.Errorf("an unknown reach in %s: %+v", mode, d)
		}
	}
}

// A call with repaired arguments that changes something is looked at once, where a user is there.
func TestRepairedSideEffectsAreReviewed(t *testing.T) {
	write, read := tool.Need{Permission: tool.Write, Target: "a"}, tool.Need{Permission: tool.Read, Target: "a"}
	fix := func(kind string) *tool.Repair { return &tool.Repair{Kind: kind} }
	for _, c := range []struct {
		name string
		mode Mode
		q    tool.Question
		want bool // a user is asked
	}{
		{"a write in edits", Edits, tool.Question{Needs: []tool.Need{write}, Repair: fix("trailing_comma")}, true},
		{"a write in auto", Auto, tool.Question{Needs: []tool.Need{write}, Repair: fix("alias+fence")}, true},
		{"an allowed command", AskFirst, tool.Question{Needs: []tool.Need{{Permission: tool.Execute, Target: "ls"}}, Repair: fix("model")}, true},
		{"in yolo", Yolo, tool.Question{Needs: []tool.Need{write}, Repair: fix("trailing_comma")}, false},
		{"a read", Edits, tool.Question{Needs: []tool.Need{read}, Repair: fix("trailing_comma")}, false},
		{"only other names", Edits, tool.Question{Needs: []tool.Need{write}, Repair: fix("alias+name_variant")}, false},
		{"seen before", Edits, tool.Question{Needs: []tool.Need{write}, Repair: fix("model"), Reviewed: true}, false},
		{"not repaired", Edits, tool.Question{Needs: []tool.Need{write}}, false},
	} {
		s := &answers{answers: []Answer{{Choice: Session}}}
		d := decide(t, newPolicy(t, c.mode, s.ask, "allow execute(ls)"), c.q)
		if !d.Allow || d.Asked != c.want || len(s.prompts) > 0 != c.want {
			t.Errorf("%s: %+v, prompts %+v", c.name, d, s.prompts)
		}
		if c.want && (len(s.prompts[0].Offers) > 0 || d.Layer != string(person)) {
			t.Errorf("%s: a grant for the session is offered or made: %+v %+v", c.name, s.prompts, d)
		}
		no := &answers{answers: []Answer{{Choice: No}}}
		if d := decide(t, newPolicy(t, c.mode, no.ask, "allow execute(ls)"), c.q); d.Allow == c.want {
			t.Errorf("%s, refused: %+v", c.name, d)
		}
		// Nobody there: rules and modes decide as ever.
		if d := decide(t, newPolicy(t, c.mode, nil, "allow execute(ls)"), c.q); !d.Allow {
			t.Errorf("%s, headless: %+v", c.name, d)
		}
	}
	if d := decide(t, newPolicy(t, AskFirst, nil), tool.Question{Needs: []tool.Need{write}, Repair: fix("model")}); d.Allow {
		t.Errorf("headless, nothing allows it: %+v", d)
	}
}

// A hook that wants a user to look is heard in every mode and past every rule and grant, and
// answered once.
func TestAHooksQuestionIsAnsweredByAPerson(t *testing.T) {
	q := tool.Question{Needs: []tool.Need{{Permission: tool.Execute, Target: "ls"}}, Wanted: "the hook guard wants you to look: sure?"}
	for _, name := range Modes() {
		mode := Mode(name)
		p := newPolicy(t, mode, nil, "allow execute(ls)")
		if d := decide(t, p, q); d.Allow || mode != Plan && (!d.Asked || !strings.Contains(d.Reason, "sure?")) {
			t.Errorf("%s, nobody there: %+v", mode, d)
		}
		s := &answers{answers: []Answer{{Choice: Session}, {Choice: No}}}
		p = newPolicy(t, mode, s.ask, "allow execute(ls)")
		first, second := decide(t, p, q), decide(t, p, q)
		if !first.Allow || !first.Asked || second.Allow {
			t.Errorf("%s: %+v, then %+v", mode, first, second)
		}
		if len(s.prompts) != 2 || len(s.prompts[0].Offers) > 0 || !strings.Contains(s.prompts[0].Items[0].Reason, "sure?") {
			t.Errorf("%s: asked %+v", mode, s.prompts)
		}
	}
	denied := newPolicy(t, Yolo, nil, "deny execute(ls)")
	if d := decide(t, denied, q); d.Allow || d.Asked {
		t.Errorf("a denial became a question: %+v", d)
	}
}
