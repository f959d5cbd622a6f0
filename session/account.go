package session

import (
	"errors"
	"slices"
	"sync"
)

// account holds the usage by a session and its subagents. It is safe for concurrent use.
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

// add counts requests, whether they succeeded or not.
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

// sum returns the usage by model and the total cost.
func (a *account) sum() (used []ModelUse, all *float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	used = []ModelUse{}
	for _, m := range a.used {
		used = append(used, ModelUse{m.model, m.requests, m.usage, m.cost.sum()})
	}
	if len(used) > 0 {
		all = a.all.sum()
	}
	return used, all
}

// turn counts an earlier run's turn. Its end holds the cost including its subagents. Subagents log
// their requests elsewhere, so only their tokens are known, not the price or, with several models,
// the number.
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

// cost adds up a turn's requests. One unknown price makes the sum unknown for good: a partial sum
// would be read as the total.
type cost struct {
	usd     float64
	unknown bool
}

// sum returns the sum in USD, or nil if it is unknown.
func (c cost) sum() *float64 {
	if c.unknown {
		return nil
	}
	return &c.usd
}

func (c *Config) costOf(provider, model string, used Usage) cost {
	if c.Price == nil {
		return cost{unknown: true}
	}
	usd, known := c.Price(provider, model, used)
	return cost{usd, !known}
}

// unanswered reports whether the provider refused the request or was not reached, which costs
// nothing. An aborted request may have been charged.
func unanswered(d *draft, err error) bool {
	var failure *ProviderError
	return errors.As(err, &failure) && d.done.Usage == (Usage{}) && len(d.message.Parts) == 0
}
