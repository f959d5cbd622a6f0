package permission

import (
	"cmp"
	"strings"

	"adze/internal/stream/ask"
)

// Grants reports whether a rule for the session is offered.
func (p *Dialog) Grants() bool { return p.Open() && len(p.queue[0].Offers) > 0 }

// NoRule says why no rule is offered.
func (p *Dialog) NoRule() string {
	return "no rule: " + cmp.Or(p.queue[0].NoOffer, "this call is asked each time")
}

// Saves reports whether keeping the rule is offered.
func (p *Dialog) Saves() bool { return p.Grants() && p.Offer().Save != "" }

// Offer is the one that is shown.
func (p *Dialog) Offer() ask.Offer {
	if !p.Grants() {
		return ask.Offer{}
	}
	return p.queue[0].Offers[p.offer]
}

// Others counts the offers that are not shown; Another shows the next of them.
func (p *Dialog) Others() int {
	if !p.Grants() {
		return 0
	}
	return len(p.queue[0].Offers) - 1
}

func (p *Dialog) Another() {
	p.offer = (p.offer + 1) % len(p.queue[0].Offers)
	p.kept = nil
	p.Body(p.w)
	p.seen = min(p.seen, p.ruleAt) // the rule is another one
	p.scrolled = min(p.scrolled, p.seen)
}

// Offered lists all that is offered, the shown one too: each as what it allows and what that means.
// Choose shows one of them, counted from 0; of a number that none has it changes nothing.
func (p *Dialog) Offered() (list []string) {
	if !p.Grants() {
		return nil
	}
	for _, o := range p.queue[0].Offers {
		line := strings.ReplaceAll(o.Rule, "\n", " and ")
		if text := means(o); text != "" {
			line += " (" + text + ")"
		}
		list = append(list, line)
	}
	return list
}

func (p *Dialog) Choose(n int) {
	if n >= 0 && n <= p.Others() {
		p.offer = n
	}
}
