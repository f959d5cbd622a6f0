package permission

import (
	"cmp"
	"slices"
	"strings"

	"adze/internal/stream/ask"
	"adze/tool"
)

// grant is a possible meaning for the key "all like this".
type grant struct {
	choice ask.Choice
	offer  int // index in Offers; unused for all edits
}

// grants returns the possible grants: each rule for this session and, if possible, saved. The grant
// for all edits comes first, but last for a command.
func (p *Dialog) grants() (all []grant) {
	if !p.Open() {
		return nil
	}
	runs := slices.ContainsFunc(p.queue[0].Question.Needs, func(n tool.Need) bool { return n.Permission == tool.Execute })
	if p.queue[0].Edits && !runs {
		all = append(all, grant{choice: ask.AllEdits})
	}
	for i, o := range p.queue[0].Offers {
		all = append(all, grant{ask.ForSession, i})
		if o.Save != "" {
			all = append(all, grant{ask.Always, i})
		}
	}
	if p.queue[0].Edits && runs {
		all = append(all, grant{choice: ask.AllEdits})
	}
	return all
}

// Grants reports whether more than this call can be allowed.
func (p *Dialog) Grants() bool { return len(p.grants()) > 0 }

// NoRule returns why no rule is offered.
func (p *Dialog) NoRule() string {
	return "no rule: " + cmp.Or(p.queue[0].NoOffer, "this call is asked each time")
}

// All allows calls by the shown grant.
func (p *Dialog) All() {
	g := p.grants()[p.grant]
	p.Answer(ask.Answer{Choice: g.choice, Offer: g.offer})
}

// RuleFile returns the file that the shown rule would be saved to, or "" for a session rule.
func (p *Dialog) RuleFile() string {
	if p.Grants() && p.grants()[p.grant].choice == ask.Always {
		return p.Offer().Save
	}
	return ""
}

// OfEdits reports whether the shown grant is for all edits.
func (p *Dialog) OfEdits() bool { return p.Grants() && p.grants()[p.grant].choice == ask.AllEdits }

// Offer returns the shown offer.
func (p *Dialog) Offer() ask.Offer {
	if !p.Grants() {
		return ask.Offer{}
	}
	return p.offered(p.grants()[p.grant])
}

func (p *Dialog) offered(g grant) ask.Offer {
	if g.choice == ask.AllEdits {
		return ask.Offer{Covers: "all edits in this folder", Rule: "allow write(work:**)", Spares: "files that make other programs run things"}
	}
	return p.queue[0].Offers[g.offer]
}

// OtherGrants returns the number of other grants; Another shows the next one.
func (p *Dialog) OtherGrants() int { return max(len(p.grants())-1, 0) }

func (p *Dialog) Another() {
	p.grant = (p.grant + 1) % len(p.grants())
	p.layout = nil
	p.Body(p.w)
	p.rowsSeen = min(p.rowsSeen, p.ruleAt) // its rule differs
	p.scrolled = min(p.scrolled, p.rowsSeen)
}

// Offered lists all grants: each rule and its meaning. Choose shows one of them, counted from 0; it
// ignores an invalid number.
func (p *Dialog) Offered() (list []string) {
	for _, g := range p.grants() {
		o := p.offered(g)
		what := rest(o, g.choice)
		if o.Covers != "" {
			what = "allows " + o.Covers + " · " + what
		}
		list = append(list, strings.ReplaceAll(o.Rule, "\n", " and ")+" ("+what+")")
	}
	return list
}

func (p *Dialog) Choose(n int) {
	if n >= 0 && n <= p.OtherGrants() {
		p.grant = n
	}
}
