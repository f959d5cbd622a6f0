package policy

import (
	"slices"

	"adze/internal/policy/programs"
	"adze/internal/policy/script"
	"adze/tool"
)

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
		part := Part{Command: v.target, Effect: v.effect, Rule: v.rule, Layer: v.layer, Why: "no rule names it"}
		if v.rule != "" {
			part.Why = "the rule matches it"
		}
		e.Parts = []Part{part}
		return e
	}
	if v.command.refused == nil {
		if _, err := p.script(v.command, p.dirOf(dir)); err != nil {
			e.Opaque = err.Error()
		}
	}
	for _, s := range v.command.simples {
		if !s.maybe {
			e.Parts = append(e.Parts, p.part(p.Mode(), s))
		}
	}
	return e
}

// part judges one program alone, with the same rules as judgeCommand.
func (p *Policy) part(mode Mode, s simple) Part {
	rules, alone := p.programRules(), &command{simples: []simple{s}}
	out := Part{Command: s.String(), Inner: s.inner, Effect: mode.byDefault(tool.Execute, false), Layer: layerOf(mode), Why: "no rule matches"}
	by := func(r Rule, why string) {
		out.Effect, out.Rule, out.Layer, out.Why = r.Effect, r.String(), r.Layer, why
	}
	denies, _, certain := forbidden(rules, alone)
	asks, asked := asked(rules, alone)
	allows, allowed := (&judgement{Policy: p, rules: rules}).ruled(s.words)
	looks := looksAlone(s)
	switch {
	case certain == sure:
		by(denies, "the deny rule matches")
	case certain == possible:
		by(denies, "the deny rule may match: a word is known only when it runs")
		if mode != Yolo { // there, nobody would be asked
			out.Effect = Ask
		}
	case asked:
		by(asks, "the ask rule matches, or may match")
	case allowed:
		by(allows, "the allow rule matches every word")
	case looks != "":
		out.Effect, out.Layer, out.Why = Allow, readOnlyLayer, looks
	case mode.forbids(tool.Execute) != "":
		out.Effect, out.Why = Deny, mode.forbids(tool.Execute)
	case s.inner:
		out.Why = "no rule matches; whether it may run is decided with what starts it"
	case startsPrograms(s):
		out.Why = "no rule names it, and it starts other programs, so * and ** do not allow it"
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
