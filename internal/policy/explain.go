package policy

import (
	"fmt"
	"strings"

	"adze/tool"
)

// Explanation is how a command is read and judged.
type Explanation struct {
	Effect   Effect
	Rule     string // empty: the mode decides
	Layer    Layer
	Reason   string
	Opaque   string   // why no rule can allow it; empty: it is plain
	Commands []string // each program found, with ? for words known only when it runs; those behind others are indented
	Session  []string // rules that "for this session" would grant
}

// Explain judges a command as a call that runs it in dir would be, without asking anybody.
func (p *Policy) Explain(text, dir string) Explanation {
	v := p.judge(p.Mode(), tool.Need{Permission: tool.Execute, Target: text, Dir: dir})
	e := Explanation{Effect: v.effect, Rule: v.rule, Layer: v.layer, Reason: v.reason}
	c, err := read(text)
	if err == nil {
		e.Opaque = c.opaque
	}
	for _, s := range c.simples {
		line := s.String()
		if s.inner {
			line = "  " + line
		}
		e.Commands = append(e.Commands, line)
	}
	for _, g := range v.offers {
		e.Session = append(e.Session, g.rule)
	}
	return e
}

// String is the explanation as a person reads it.
func (e Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s by %s\n", e.Effect, firstOf(e.Rule, string(e.Layer)))
	for _, line := range []struct{ name, text string }{
		{"reason", e.Reason}, {"opaque", e.Opaque}, {"runs", strings.Join(e.Commands, "\n      ")}, {"session", strings.Join(e.Session, "\n         ")},
	} {
		if line.text != "" {
			fmt.Fprintf(&b, "%s: %s\n", line.name, line.text)
		}
	}
	return b.String()
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
