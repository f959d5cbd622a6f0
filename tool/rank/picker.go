package rank

import (
	"context"
	"sync"

	"adze/tool"
)

// Picker keeps a scorer's index of some definitions, which is made at the first Pick. It is safe
// for concurrent use.
type Picker struct {
	names  []string
	get    func(i int) tool.Definition
	brief  bool // results hold no definition of what is excluded
	scorer Scorer

	mu    sync.Mutex
	index Index
}

// maxQuery is how much of a query counts, in bytes: what a user wants stands before the log that
// was pasted behind it, and the time of a pick must have a bound.
const maxQuery = 4 << 10

// New makes a Picker. A nil scorer is the default one.
func New(defs []tool.Definition, scorer Scorer) *Picker {
	if scorer == nil {
		scorer = DefaultScorer()
	}
	p := &Picker{names: make([]string, len(defs)), get: func(i int) tool.Definition { return defs[i] }, scorer: scorer}
	for i, d := range defs {
		p.names[i] = d.Name
	}
	return p
}

// Of makes a Picker for the tools of a set. What is excluded has a name in the results, and no
// more.
func Of(set *tool.Set, scorer Scorer) *Picker {
	if scorer == nil {
		scorer = DefaultScorer()
	}
	p := &Picker{names: set.Names(), brief: true, scorer: scorer}
	p.get = func(i int) tool.Definition {
		d, _ := set.Get(p.names[i])
		return d
	}
	return p
}

// Pick is Tools for the definitions of the Picker; o.Scorer is not looked at.
func (p *Picker) Pick(ctx context.Context, query string, o Options) []Result {
	r := p.rate(ctx, query, o.Timeout)
	name := p.name()
	var results []Result
	for _, c := range p.choose(o, r) {
		if c.excluded && !o.Debug {
			continue
		}
		from := Provenance{Scorer: name, Of: len(p.names), Fallback: r.fallback}
		if r.fallback == "" {
			from.Rank = c.place + 1
		}
		d := tool.Definition{Name: p.names[c.at]}
		if !c.excluded || !p.brief {
			d = p.get(c.at).Clone()
		}
		results = append(results, Result{Definition: d, Score: r.score(c.at), Reason: c.reason, Excluded: c.excluded, Provenance: from})
	}
	return results
}

// Choice is what became of one tool, in short.
type Choice struct {
	Name, Reason string
	Excluded     bool
}

// Choose is Pick with Debug, for who needs but names and reasons. Fallback says why the order is
// that of registration.
func (p *Picker) Choose(ctx context.Context, query string, o Options) (list []Choice, fallback string) {
	r := p.rate(ctx, query, o.Timeout)
	all := p.choose(o, r)
	list = make([]Choice, len(all))
	for i, c := range all {
		list[i] = Choice{p.names[c.at], c.reason, c.excluded}
	}
	return list, r.fallback
}

// indexed makes the index once; a failure is not kept, so that the next Pick tries again.
func (p *Picker) indexed(ctx context.Context) (Index, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.index != nil {
		return p.index, nil
	}
	index, err := p.scorer.Index(ctx, p.all())
	if err == nil {
		p.index = index
	}
	return index, err
}

func (p *Picker) all() []tool.Definition {
	out := make([]tool.Definition, len(p.names))
	for i := range out {
		out[i] = p.get(i)
	}
	return out
}
