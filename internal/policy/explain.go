package policy

import "adze/tool"

// Explanation is how a command is read and judged.
type Explanation struct {
	Effect  Effect
	Rule    string // if empty, the mode decides
	Layer   Layer
	Reason  string
	Opaque  string   // why no rule can allow it; if empty, it is plain
	Session []string // rules of the first offer
	Offers  []Offer  // what a user could allow for longer
	Run     *tool.Judged
	Parts   []Part // each program found, judged alone
}

// Part is one program of a command, and what would be said about it if it stood alone.
type Part struct {
	Command string // with ? for words known only when it runs
	Inner   bool   // another program of the command starts it
	Effect  Effect
	Rule    string // if empty, no rule matches
	Layer   Layer
	Why     string
}

// Explain judges a command as a call that runs it in dir would be, without asking anybody. A text
// such as mcp:SERVER TOOL is a call of a tool of an MCP server.
func (p *Policy) Explain(text, dir string) Explanation {
	n := tool.Need{Permission: tool.Execute, Target: text, Dir: dir, Caged: true}
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

// partOf is a part of a command with what was said about it alone.
func partOf(text string, inner bool, v verdict) Part {
	out := Part{Command: text, Inner: inner, Effect: v.effect, Rule: v.rule, Layer: v.layer, Why: v.reason}
	switch {
	case v.effect != Allow:
	case v.rule != "":
		out.Why = "the rule matches it"
	case v.looks:
		out.Why = "it only looks"
	default:
		out.Why = "no rule matches it"
	}
	return out
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
func (p *Policy) Rules() []Rule { return append([]Rule(nil), p.options.Rules...) }
