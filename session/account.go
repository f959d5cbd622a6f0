package session

import (
	"errors"
	"slices"
	"sync"
)

// account is what a session used so far, with its subagents, which work beside it: it is safe for
// concurrent use.
type account struct {
	mu   sync.Mutex
	used []modelUse
	all  cost
}

type modelUse struct {
	model    string
	requests int
	usage    Usage
	cost     cost
}

// add counts requests that were made, whatever came of them.
func (a *account) add(model string, requests int, u Usage, price cost) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.model(model, requests, u, price)
	a.all = a.all.plus(price)
}

func (a *account) model(name string, requests int, u Usage, price cost) {
	at := slices.IndexFunc(a.used, func(m modelUse) bool { return m.model == name })
	if at < 0 {
		at = len(a.used)
		a.used = append(a.used, modelUse{model: name})
	}
	m := &a.used[at]
	m.requests, m.usage, m.cost = m.requests+requests, m.usage.Add(u), m.cost.plus(price)
}

func (c cost) plus(d cost) cost { return cost{c.usd + d.usd, c.unknown || d.unknown} }

// sum is what was used by each model, and what all of it cost.
func (a *account) sum() (used []ModelUse, all *float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	used = []ModelUse{}
	for _, m := range a.used {
		used = append(used, ModelUse{m.model, m.requests, m.usage, m.cost.known()})
	}
	if len(used) > 0 {
		all = a.all.known()
	}
	return used, all
}

// turn counts a turn of an earlier run. Its end tells what it cost with its subagents, whose
// requests stand in logs of their own: of these the tokens are known, but neither the price nor,
// with several models, the number.
func (a *account) turn(t pastTurn, price func(pastRequest) cost) {
	a.mu.Lock()
	defer a.mu.Unlock()
	rest, answers := map[string]Usage{}, 0
	if t.end != nil {
		for name, u := range t.end.Usage {
			rest[name] = u
		}
	}
	for _, r := range t.requests {
		c := price(r)
		a.model(r.model, 1, r.usage, c)
		rest[r.model] = rest[r.model].minus(r.usage)
		if t.end == nil {
			a.all = a.all.plus(c)
		}
		if !r.failed {
			answers++
		}
	}
	if t.end == nil {
		return
	}
	if t.end.Cost != nil {
		a.all.usd += *t.end.Cost
	} else {
		a.all.unknown = true
	}
	var names []string
	for name, u := range rest {
		if u.Total() > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		requests := 0
		if len(names) == 1 {
			requests = max(t.end.Steps-answers, 0)
		}
		a.model(name, requests, rest[name], cost{unknown: true})
	}
}

func (u Usage) minus(v Usage) Usage {
	return Usage{u.Input - v.Input, u.Output - v.Output, u.CacheRead - v.CacheRead, u.CacheWrite - v.CacheWrite, u.Reasoning - v.Reasoning}
}

// cost sums up what the requests of a turn cost. One that nobody can price makes the sum unknown,
// for ever: a sum of some would be read as that of all.
type cost struct {
	usd     float64
	unknown bool
}

// known returns the sum in USD, or nil.
func (c cost) known() *float64 {
	if c.unknown {
		return nil
	}
	return &c.usd
}

// costOf is what one request costs.
func (c *Config) costOf(provider, model string, used Usage) cost {
	if c.Price == nil {
		return cost{unknown: true}
	}
	usd, known := c.Price(provider, model, used)
	return cost{usd, !known}
}

// unanswered reports a request that the provider refused, or that did not reach it: nobody charges
// for that. A request that was aborted may have been charged, and nobody says how much.
func unanswered(d *draft, err error) bool {
	var failure *ProviderError
	return errors.As(err, &failure) && d.done.Usage == (Usage{}) && len(d.message.Parts) == 0
}
