package policy

import (
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"adze/tool"
)

// startsForbidden looks for the program by the simplest means: a command whose first word is that
// name.
func startsForbidden(text string) bool {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return false
	}
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 && call.Args[0].Lit() == "forbidden" {
			found = true
		}
		return true
	})
	return found
}

// FuzzCommand holds that a denied program that is spelled out is never allowed, whatever stands
// around it, and that what a rule allows reads back as the same words.
func FuzzCommand(f *testing.F) {
	for _, c := range [][2]string{{"", ""}, {"ls; ", " x"}, {"echo $(", ")"}, {"env -i A=1 ", ""}, {"sh -c '", "'"}, {"f() { ", "; }; f"}, {"cat <<E\n$(", ")\nE\n"}} {
		f.Add(c[0], c[1])
	}
	var policies []*Policy
	for _, mode := range Modes() {
		policies = append(policies, newPolicy(f, Mode(mode), nil, "allow execute", "allow execute({env,sh,bash,sudo,xargs,find} **)", "deny execute(forbidden **)"))
	}
	plain := newPolicy(f, AskFirst, nil, "allow execute")
	f.Fuzz(func(t *testing.T, before, after string) {
		text := before + "forbidden x" + after
		starts := startsForbidden(text)
		for _, p := range policies {
			if v := p.judge(p.Mode(), tool.Need{Permission: tool.Execute, Target: text}); starts && v.effect != Deny {
				t.Errorf("mode %s: %q is %s", p.Mode(), text, v.effect)
			}
		}
		if v := plain.judge(AskFirst, tool.Need{Permission: tool.Execute, Target: before}); v.effect == Allow {
			readsBack(t, before)
		}
	})
}

func readsBack(t *testing.T, text string) {
	t.Helper()
	c := read(text, "")
	if c.refused != nil {
		t.Fatalf("%q is allowed and refused: %v", text, c.refused)
	}
	if odd, _ := readAgain(text, c.simples); odd != "" { // judged, but no list of plain words
		return
	}
	again := read(c.text(), "")
	if odd, same := readAgain(c.text(), again.simples); again.refused != nil || odd != "" || !same {
		t.Fatalf("%q reads as %q, which is not plain: %s %v", text, c.text(), odd, again.refused)
	}
	if !slices.EqualFunc(c.simples, again.simples, func(a, b simple) bool { return a.String() == b.String() }) {
		t.Errorf("%q reads as %v, then as %v", text, c.simples, again.simples)
	}
}

// FuzzRule holds that a rule that can be read reads back as itself, and that the rule shown for a
// command allows exactly that command.
func FuzzRule(f *testing.F) {
	f.Add("execute(go test **)", "go test")
	f.Add("write(work:{a,b}/**)", "echo 'it''s' \"*\"")
	f.Add("network(https://*.example.com:8443)", "a | b")
	f.Fuzz(func(t *testing.T, rule, text string) {
		if r, err := ParseRule(Deny, User, rule); err == nil {
			again, err := parseLine(User, r.String())
			if err != nil || again.String() != r.String() {
				t.Errorf("%q reads as %q, then as %q, %v", rule, r, again, err)
			}
		}
		p := newPolicy(t, AskFirst, nil)
		offered := p.Explain(text, "").Session
		if len(offered) == 0 {
			return
		}
		if e := newPolicy(t, AskFirst, nil, offered...).Explain(text, ""); e.Effect != Allow {
			t.Errorf("%q: the rules %q do not allow it", text, offered)
		}
	})
}
