package permission

import (
	"cmp"
	"slices"
	"strings"

	"adze/internal/stream/ask"
	"adze/tool"
)

// grant is one thing that the key "all like this" may answer, for longer than once.
type grant struct {
	choice ask.Choice
	offer  int // of Ask.Offers; of all edits, none
}

// grants lists what can be allowed: each rule for this session, and kept where that can be. All
// edits come first, or last where a command is asked about.
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

// NoRule says why no rule is offered.
func (p *Dialog) NoRule() string {
	return "no rule: " + cmp.Or(p.queue[0].NoOffer, "this call is asked each time")
}

// All allows all like this, by what is shown.
func (p *Dialog) All() {
	g := p.grants()[p.shown]
	p.Answer(ask.Answer{Choice: g.choice, Offer: g.offer})
}

// Kept is the file in which the rule that is shown would be kept. It is empty for a rule of this
// session.
func (p *Dialog) Kept() string {
	if p.Grants() && p.grants()[p.shown].choice == ask.Always {
		return p.Offer().Save
	}
	return ""
}

// OfEdits reports that all edits are what is shown.
func (p *Dialog) OfEdits() bool { return p.Grants() && p.grants()[p.shown].choice == ask.AllEdits }

// Offer is the one that is shown.
func (p *Dialog) Offer() ask.Offer {
	if !p.Grants() {
		return ask.Offer{}
	}
	return p.offered(p.grants()[p.shown])
}

func (p *Dialog) offered(g grant) ask.Offer {
	if g.choice == ask.AllEdits {
		return ask.Offer{Covers: "all edits in this folder", Rule: "allow write(work:**)", Spares: "files that make other programs run things"}
	}
	return p.queue[0].Offers[g.offer]
}

// Others counts what else can be allowed; Another shows the next of that.
func (p *Dialog) Others() int { return max(len(p.grants())-1, 0) }

func (p *Dialog) Another() {
	p.shown = (p.shown + 1) % len(p.grants())
	p.kept = nil
	p.Body(p.w)
	p.seen = min(p.seen, p.ruleAt) // the rule is another one
	p.scrolled = min(p.scrolled, p.seen)
}

// Offered lists all that can be allowed, what is shown too: each as the rule and what that means.
// Choose shows one of them, counted from 0; of a number that none has it changes nothing.
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
	if n >= 0 && n <= p.Others() {
		p.shown = n
	}
}
