package session

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"adze/tool"
)

// Limits are one turn's budgets; zero means unlimited.
type Limits struct {
	Steps int // model requests
	// OwnRequests limits the session's own model requests, without those of its subagents.
	OwnRequests int
	Calls       int
	Tokens      int // of all requests
	// Cost is in USD. A request with unknown cost ends the turn, since the limit could not be
	// enforced.
	Cost float64
	Time time.Duration
}

// A Budget holds a turn's limits and usage. A subagent counts in its own budget and in its parent
// turn's, and both limits apply. It is safe for concurrent use.
type Budget struct {
	limits  Limits
	parent  *Budget
	of      Start // the turn's session
	account *account
	mu      *sync.Mutex // shared by a turn and its subagents, so that checking and taking a limit is atomic

	usage  map[string]Usage
	total  Usage
	cost   cost
	steps  int
	begun  int // admitted calls
	calls  map[string]map[tool.Status]int
	denied []Denial
	// refusals counts the entries in denied from sandboxes.
	refusals int
}

func newBudget(l Limits, within *Budget, of Start) *Budget {
	b := &Budget{limits: l, parent: within, of: of, mu: new(sync.Mutex), usage: map[string]Usage{}, calls: map[string]map[tool.Status]int{}}
	if within != nil {
		b.mu = within.mu
	}
	return b
}

// step counts one model request or returns an error if a limit is reached.
func (b *Budget) step() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for at := b; at != nil; at = at.parent {
		if err := at.spent(); err != nil {
			return err
		}
	}
	for at := b; at != nil; at = at.parent {
		at.steps++
	}
	return nil
}

func (b *Budget) spent() error {
	switch l := b.limits; {
	case l.Steps > 0 && b.steps >= l.Steps:
		return fmt.Errorf("%w: %d model requests were made", ErrBudget, l.Steps)
	case l.Calls > 0 && b.begun >= l.Calls:
		return fmt.Errorf("%w: %d calls were made", ErrBudget, l.Calls)
	}
	return b.dear()
}

// tooDear returns an error if the token or cost limit is reached. It also ends a request's retries.
func (b *Budget) tooDear() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for at := b; at != nil; at = at.parent {
		if err := at.dear(); err != nil {
			return err
		}
	}
	return nil
}

func (b *Budget) dear() error {
	switch l := b.limits; {
	case l.Tokens > 0 && b.total.Total() >= l.Tokens:
		return fmt.Errorf("%w: %d tokens were used", ErrBudget, b.total.Total())
	case l.Cost > 0 && b.cost.unknown:
		return fmt.Errorf("%w: what the last request cost is not known", ErrBudget)
	case l.Cost > 0 && b.cost.usd >= l.Cost:
		return fmt.Errorf("%w: %.4f USD were spent", ErrBudget, b.cost.usd)
	}
	return nil
}

// call counts one call. If ok is false, the limit, most, is reached.
func (b *Budget) call() (most int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for at := b; at != nil; at = at.parent {
		if at.limits.Calls > 0 && at.begun >= at.limits.Calls {
			return at.limits.Calls, false
		}
	}
	for at := b; at != nil; at = at.parent {
		at.begun++
	}
	return 0, true
}

func (b *Budget) spend(model string, u Usage, price cost) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for at := b; at != nil; at = at.parent {
		at.usage[model] = at.usage[model].Add(u)
		at.total = at.total.Add(u)
		at.cost.usd += price.usd
		at.cost.unknown = at.cost.unknown || price.unknown
		at.account.add(model, 1, u, price)
	}
}

// count counts one outcome. Each session above a subagent lists its calls under the names its own
// observers saw.
func (b *Budget) count(o tool.Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	call, agent := o.Call, ""
	for at := b; at != nil; call, agent, at = CallOf(at.of.Call, call), b.of.Agent, at.parent {
		if at.calls[o.Tool] == nil {
			at.calls[o.Tool] = map[tool.Status]int{}
		}
		at.calls[o.Tool][o.Status]++
		at.refused(o.Record.Refused, Denial{Call: call, Tool: o.Tool, Agent: agent})
		if o.Status != tool.Denied {
			continue
		}
		d := Denial{Call: call, Tool: o.Tool, Agent: agent}
		if n := len(o.Record.Decisions); n > 0 {
			last := o.Record.Decisions[n-1]
			d.Need, d.Rule, d.Reason, d.Allow = last.Need, last.Rule, last.Reason, last.Offers
			if last.Allow { // the tool itself could not ask anyone
				d.Reason, d.Unanswered = shortened(o.Output, deniedText), true
			}
		}
		at.denied = append(at.denied, d)
	}
}

const maxRefused = 500

// refused lists the refusals by a call's sandbox, each once in a turn.
func (b *Budget) refused(list []tool.Refusal, d Denial) {
	for _, r := range list {
		known := slices.ContainsFunc(b.denied, func(o Denial) bool { return o.Kind == r.Kind && o.Name == r.Name && o.Agent == d.Agent })
		if known || b.refusals >= maxRefused {
			continue
		}
		b.refusals++
		d.Kind, d.Name, d.Reason, d.Hint = r.Kind, r.Name, r.Reason, r.Hint
		b.denied = append(b.denied, d)
	}
}

// deniedText limits a call's output in a denial, in bytes.
const deniedText = 1 << 10

// CallOf names a subagent's call in its parent session: ids are unique in one log only.
func CallOf(parent, call tool.CallID) tool.CallID { return parent + "/" + call }

func (b *Budget) sum(r *Result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.Usage, r.Cost, r.Steps, r.Denied = maps.Clone(b.usage), b.cost.sum(), b.steps, slices.Clone(b.denied)
	r.Calls = map[string]map[tool.Status]int{}
	for name, counts := range b.calls {
		r.Calls[name] = maps.Clone(counts)
	}
}

// Spending holds the usage so far.
type Spending struct {
	Steps, Calls int
	Tokens       int
	Cost         *float64 // in USD; nil if unknown
}

// Spending returns the usage so far.
func (b *Budget) Spending() Spending {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Spending{b.steps, b.begun, b.total.Total(), b.cost.sum()}
}
