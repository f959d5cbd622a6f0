package rank

import (
	"context"
	"errors"
	"sync"

	"adze/tool"
)

// Picker keeps a scorer's index of some definitions, which is made at the first Pick. It is safe
// for concurrent use.
type Picker struct {
	names  []string
	get    func(i int) tool.Definition
	brief  bool // get is asked only for what may be picked
	scorer Scorer
	shelf  Shelf

	mu    sync.Mutex
	index Index
}

// Shelf keeps the index of some definitions between runs, for a scorer that can write its index
// down (Keeper). What it holds is checked before it is used. Its fields may be nil.
type Shelf struct {
	Load func(scorer string) []byte
	Save func(scorer string, raw []byte)
}

// Keeper is a scorer whose index can be written down. Contract:
//   - Decode(Encode(x), n) answers as x does;
//   - Decode refuses what is no index of n definitions, whatever its bytes are.
type Keeper interface {
	Scorer
	Encode(Index) []byte
	Decode(raw []byte, n int) (Index, error)
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

// Of makes a Picker for the tools of a set. It reads no definition but of what may be picked, and
// all of them where the shelf has no index; what is excluded has a name, and no more.
func Of(set *tool.Set, scorer Scorer, shelf Shelf) *Picker {
	if scorer == nil {
		scorer = DefaultScorer()
	}
	p := &Picker{names: set.Names(), brief: true, scorer: scorer, shelf: shelf}
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
	index, err := p.kept()
	if err != nil {
		if index, err = p.scorer.Index(ctx, p.all()); err == nil {
			p.keep(index)
		}
	}
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

var errNotKept = errors.New("no index is kept")

// kept is the index that the shelf has.
func (p *Picker) kept() (Index, error) {
	keeper, can := p.scorer.(Keeper)
	if !can || p.shelf.Load == nil {
		return nil, errNotKept
	}
	return keeper.Decode(p.shelf.Load(keeper.Name()), len(p.names))
}

// keep puts an index on the shelf.
func (p *Picker) keep(index Index) {
	if keeper, can := p.scorer.(Keeper); can && p.shelf.Save != nil {
		p.shelf.Save(keeper.Name(), keeper.Encode(index))
	}
}
