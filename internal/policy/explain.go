package policy

import "adze/tool"

// An Explanation describes how a command is read and judged.
type Explanation struct {
	Effect  Effect
	Rule    string // empty if the mode decides
	Layer   Layer
	Reason  string
	Opaque  string   // why no rule can allow it; empty for a plain command
	Session []string // rules in the first offer
	Offers  []Offer  // longer grants available to the user
	Run     *tool.CommandReading
	Parts   []Part // every program found, judged separately
}

// A Part is one program in a command, judged separately.
type Part struct {
	Command string // ? stands for words known only at run time
	Inner   bool   // started by another program in the command
	Effect  Effect
	Rule    string // empty if no rule matches
	Layer   Layer
	Reason  string
}

// Explain judges a command run in dir, without asking anybody. Text such as mcp:SERVER TOOL is a
// call to an MCP server's tool.
func (p *Policy) Explain(text, dir string) Explanation {
	n := tool.Need{Permission: tool.Execute, Target: text, Dir: dir, Sandboxed: true}
	server, calls := serverToolOf(text)
	if calls {
		n = server.need()
	}
	v := p.judge(p.Mode(), n)
	e := Explanation{Effect: v.effect, Rule: v.rule, Layer: v.layer, Reason: v.reason, Run: v.run}
	if e.Effect == Ask {
		e.Offers = offersFor([]verdict{v})
	}
	if len(e.Offers) > 0 {
		e.Session = e.Offers[0].Rules
	}
	if calls {
		e.Parts = []Part{partOf(v.target, false, v)}
		return e
	}
	if v.command.refused == nil {
		if _, err := p.script(v.command, p.dirOf(dir)); err != nil {
			e.Opaque = err.Error()
		}
	}
	for _, s := range v.command.simples {
		if !s.maybe {
			n.Target = s.shown("$_")
			e.Parts = append(e.Parts, partOf(s.String(), s.inner, p.judge(p.Mode(), n)))
		}
	}
	return e
}

func partOf(text string, inner bool, v verdict) Part {
	out := Part{Command: text, Inner: inner, Effect: v.effect, Rule: v.rule, Layer: v.layer, Reason: v.reason}
	switch {
	case v.effect != Allow:
	case v.rule != "":
		out.Reason = "the rule matches it"
	case v.looks:
		out.Reason = "it only looks"
	default:
		out.Reason = "no rule matches it"
	}
	return out
}

// A Finding is the judgement of one need.
type Finding struct {
	Need   tool.Need `json:"need"`
	Target string    `json:"target"` // resolved: an absolute path, argument vectors, an address
	Effect Effect    `json:"effect"`
	Rule   string    `json:"rule,omitempty"` // empty if no rule decides
	Layer  Layer     `json:"layer"`
	Reason string    `json:"reason,omitempty"`
}

// Findings judges a call need by need, like [Policy.Decide] but without asking anybody.
func (p *Policy) Findings(q tool.Question) []Finding {
	var out []Finding
	for _, v := range p.judgeAll(p.modeFor(q), q) {
		out = append(out, Finding{v.need, v.target, v.effect, v.rule, v.layer, v.reason})
	}
	return out
}

// Sum combines a call's findings: one deny suffices, and every need must be allowed.
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

// Rules returns all rules, in the order of their layers.
func (p *Policy) Rules() []Rule { return append([]Rule(nil), p.options.Rules...) }
