package batch

import "sync"

// Money is what the tasks of a batch have cost, on whatever machines: of results, and of those that
// run so far. The rule is the same everywhere: a task begins as long as the sum is below the limit
// of the batch, and when the sum reaches it, those that run are stopped. The sum is above the limit
// at most by one request to the model for each task that runs then.
type Money struct {
	Spent float64            `json:"spent"`
	Now   map[string]float64 `json:"now,omitempty"` // by task
}

// So takes what a running task has cost so far.
func (m *Money) So(task string, cost float64) {
	if m.Now == nil {
		m.Now = map[string]float64{}
	}
	m.Now[task] = cost
}

// Left returns what is left of most.
func (m *Money) Left(most float64) float64 {
	left := most - m.Spent
	for _, cost := range m.Now {
		left -= cost
	}
	return left
}

// purse is the money of a batch on this machine.
type purse struct {
	most  float64 // USD; if 0, any
	empty func()

	mu sync.Mutex
	Money
}

// so takes what a running task has cost so far.
func (p *purse) so(task string, cost float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.So(task, cost)
	p.look()
}

// back takes out again what a task had cost that goes on: it counts itself from here on.
func (p *purse) back(cost float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Spent -= cost
}

// over moves what a task has cost to what is spent.
func (p *purse) over(task string, cost *float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	so := p.Now[task]
	delete(p.Now, task)
	if cost != nil {
		so = *cost
	}
	p.Spent += so
	p.look()
}

// look says so when nothing is left. The caller holds p.mu.
func (p *purse) look() {
	if p.most > 0 && p.Left(p.most) <= 0 {
		p.empty()
	}
}
