package batch

import "sync"

// purse is the money of all tasks together: what results have cost, and what those that run have
// cost so far.
type purse struct {
	most  float64 // USD; 0: any
	empty func()

	mu    sync.Mutex
	spent float64            // what is over, and what tasks had cost that go on
	now   map[string]float64 // by task
}

// so takes what a running task has cost so far.
func (p *purse) so(task string, cost float64) {
	p.mu.Lock()
	p.now[task] = cost
	p.mu.Unlock()
	p.look()
}

// back takes out again what a task had cost that goes on: it counts itself from here on.
func (p *purse) back(cost float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spent -= cost
}

// over moves what a task has cost to what is spent.
func (p *purse) over(task string, cost *float64) {
	p.mu.Lock()
	so := p.now[task]
	delete(p.now, task)
	if cost != nil {
		so = *cost
	}
	p.spent += so
	p.mu.Unlock()
	p.look()
}

// look says so when nothing is left.
func (p *purse) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	sum := p.spent
	for _, c := range p.now {
		sum += c
	}
	if p.most > 0 && sum >= p.most {
		p.empty()
	}
}
