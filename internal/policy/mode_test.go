package policy

import (
	"context"
	"slices"
	"testing"

	"adze/tool"
)

// width is how much a mode allows without asking, as its place in the list says; an unknown one
// nothing.
func width(m Mode) int { return slices.Index(byCare(), m) }

// An agent may be bound to a mode; it never widens what is in force, whatever is in force and
// whatever the word is.
func TestABoundModeOnlyNarrows(t *testing.T) {
	needs := []tool.Need{
		{Permission: tool.Read, Target: "a.go"}, {Permission: tool.Read, Target: ".env"}, {Permission: tool.Write, Target: "a.go"},
		{Permission: tool.Write, Target: "/etc/x"}, {Permission: tool.Execute, Target: "make"}, {Permission: tool.Network, Target: "https://go.dev"},
	}
	strength := map[Effect]int{Deny: 0, Ask: 1, Allow: 2}
	for _, now := range byCare() {
		for _, bound := range append(byCare(), "", "bypassPermissions", "YOLO") {
			p := newPolicy(t, now, nil)
			q := tool.Question{Mode: string(bound), Needs: needs}
			mode := p.modeFor(q)
			if width(mode) > width(now) {
				t.Errorf("%s bound to %q is %s", now, bound, mode)
			}
			if bound.known() && width(mode) > width(bound) {
				t.Errorf("%s bound to %s is %s", now, bound, mode)
			}
			free := p.judgeAll(p.Mode(), tool.Question{Needs: needs})
			for i, v := range p.judgeAll(p.modeFor(q), q) {
				if strength[v.effect] > strength[free[i].effect] {
					t.Errorf("%s bound to %q: %s %s is %s, else %s", now, bound, v.need.Permission, v.need.Target, v.effect, free[i].effect)
				}
			}
		}
	}
}

// Plan binds at the gate itself: a user is not even asked.
func TestAnAgentBoundToPlanChangesNothingInYolo(t *testing.T) {
	asked := func(context.Context, tool.Question, Prompt) (Answer, error) {
		t.Error("a person was asked")
		return Answer{Choice: Once}, nil
	}
	p := newPolicy(t, Yolo, asked)
	for _, n := range []tool.Need{{Permission: tool.Write, Target: "a.go"}, {Permission: tool.Execute, Target: "make"}} {
		d, err := p.Decide(t.Context(), tool.Question{Mode: string(Plan), Needs: []tool.Need{n}})
		if err != nil || d.Allow {
			t.Errorf("%s: %+v, %v", n.Permission, d, err)
		}
	}
}
