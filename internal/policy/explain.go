package policy

import (
	"slices"

	"adze/internal/policy/programs"
	"adze/internal/policy/script"
	"adze/tool"
)

// Explanation is how a command is read and judged.
type Explanation struct {
	Effect   Effect
	Rule     string // if empty, the mode decides
	Layer    Layer
	Reason   string
	Opaque   string   // why no rule can allow it; if empty, it is plain
	Commands []string // each program found, with ? for words known only when it runs; those behind others are indented
	Session  []string // rules of the first offer
	Offers   []Offer  // what a user could allow for longer
	Run      *tool.Judged
	Parts    []Part // each program found, judged alone
}

// Part is one program of a command, and what would be said about it if it stood alone.
type Part struct {
	Command string // as in Explanation.Commands
	Inner   bool   // another program of the command starts it
	Effect  Effect
	Rule    string // if empty, no rule matches
	Layer   Layer
	Why     string
}

// explainServerTool is Explain for a call of a tool of an MCP server.
func (p *Policy) explainServerTool(t serverTool) Explanation {
	v := p.judge(p.Mode(), t.need())
	e := Explanation{Effect: v.effect, Rule: v.rule, Layer: v.layer, Reason: v.reason, Commands: []string{v.target}}
	why := "no rule names it"
	if v.rule != "" {
		why = "the rule matches it"
	}
	e.Parts = []Part{{Command: v.target, Effect: v.effect, Rule: v.rule, Layer: v.layer, Why: why}}
	if e.Effect == Ask {
		if e.Offers = offersFor([]verdict{v}); len(e.Offers) > 0 {
			e.Session = e.Offers[0].Rules
		}
	}
	return e
}

// Explain judges a command as a call that runs it in dir would be, without asking anybody. A text
// such as mcp:SERVER TOOL is a call of a tool of an MCP server.
func (p *Policy) Explain(text, dir string) Explanation {
	if t, ok := serverToolOf(text); ok {
		return p.explainServerTool(t)
	}
	v := p.judge(p.Mode(), tool.Need{Permission: tool.Execute, Target: text, Dir: dir, Caged: true})
	e := Explanation{Effect: v.effect, Rule: v.rule, Layer: v.layer, Reason: v.reason}
	c := v.command
	if c.refused == nil {
		if _, err := p.script(c, p.dirOf(dir)); err != nil {
			e.Opaque = err.Error()
		}
	}
	for _, s := range c.simples {
		if s.maybe {
			continue
		}
		line := s.String()
		if s.inner {
			line = "  " + line
		}
		e.Commands = append(e.Commands, line)
		e.Parts = append(e.Parts, p.part(p.Mode(), s))
	}
	if e.Effect == Ask {
		e.Offers = offersFor([]verdict{v})
	}
	if len(e.Offers) > 0 {
		e.Session = e.Offers[0].Rules
	}
	e.Run = v.run
	return e
}

// part judges one program alone, with the same rules as judgeCommand.
func (p *Policy) part(mode Mode, s simple) Part {
	rules := p.programRules()
	out := Part{Command: s.String(), Inner: s.inner}
	by := func(r Rule, why string) Part {
		out.Effect, out.Rule, out.Layer, out.Why = r.Effect, r.String(), r.Layer, why
		return out
	}
	alone := &command{simples: []simple{s}}
	if r, _, certain := forbidden(rules, alone); certain == sure {
		return by(r, "the deny rule matches")
	} else if certain == possible {
		by(r, "the deny rule may match: a word is known only when it runs")
		if mode != Yolo { // there, nobody would be asked
			out.Effect = Ask
		}
		return out
	}
	if r, found := asked(rules, alone); found {
		return by(r, "the ask rule matches, or may match")
	}
	if r, found := (&judging{Policy: p, rules: rules}).ruled(s.words); found {
		return by(r, "the allow rule matches every word")
	}
	if why := looksAlone(s); why != "" {
		out.Effect, out.Layer, out.Why = Allow, readOnlyLayer, why
		return out
	}
	out.Effect, out.Layer, out.Why = mode.byDefault(tool.Execute, false), layerOf(mode), "no rule matches"
	switch {
	case s.inner:
		out.Why = "no rule matches; whether it may run is decided with what starts it"
	case startsPrograms(s):
		out.Why = "no rule names it, and it starts other programs, so * and ** do not allow it"
	}
	if why := mode.forbids(tool.Execute); why != "" {
		out.Effect, out.Why = Deny, why
	}
	return out
}

// looksAlone says that a program only looks; what it looks at is judged with the whole.
func looksAlone(s simple) string {
	if slices.ContainsFunc(s.words, func(w script.Word) bool { return w.Many }) {
		return ""
	}
	use, ok := programs.Judge(s.words)
	switch {
	case !ok || s.inner:
		return ""
	case writes(use):
		return "it writes no more than the files it names"
	case len(use.Accesses) > 0:
		return "it only looks, at files that are judged for themselves"
	}
	return "it only looks"
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// Finding is what rules and mode say about one need of a call.
type Finding struct {
	Need   tool.Need `json:"need"`
	Target string    `json:"target"` // the need resolved: an absolute path, argument vectors, an address
	Effect Effect    `json:"effect"`
	Rule   string    `json:"rule,omitempty"` // if empty, no rule decides
	Layer  Layer     `json:"layer"`
	Reason string    `json:"reason,omitempty"`
}

// Findings judge a call as [Policy.Decide] does, need by need, without asking anybody.
func (p *Policy) Findings(q tool.Question) []Finding {
	var out []Finding
	for _, v := range p.judgeAll(p.modeFor(q), q) {
		out = append(out, Finding{v.need, v.target, v.effect, v.rule, v.layer, v.reason})
	}
	return out
}

// Sum is what becomes of a call of which every need was judged: one deny is enough, and every need
// must be allowed.
func Sum(findings []Finding) Effect {
	sum := Allow
	for _, f := range findings {
		if f.Effect == Deny {
			return Deny
		}
		if f.Effect == Ask {
			sum = Ask
		}
	}
	return sum
}

// Rules are those in force, in the order in which their layers were read.
func (p *Policy) Rules() []Rule { return append([]Rule(nil), p.rules...) }
