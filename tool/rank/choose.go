package rank

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"adze/tool"
)

// candidate is the verdict on one definition.
type candidate struct {
	at, place int // index in the definitions, and rank by score
	reason    string
	excluded  bool
}

// choose decides which definitions are picked and why; the picks come first, each part by score.
func (p *Picker) choose(o Options, r ranking) []candidate {
	limit := o.MaxCandidates
	if limit <= 0 {
		limit = DefaultMaxCandidates
	}
	spent := 0
	var picked []candidate
	excluded := make([]candidate, 0, len(r.order))
	for place, at := range r.order {
		why := p.unfit(o, at)
		if why == "" {
			why = o.weak(r.scores[at], r.long)
		}
		if why == "" && len(picked) >= limit {
			why = fmt.Sprintf("not among the best %d", limit)
		}
		size := 0
		if why == "" && o.Budget > 0 {
			if size = OfferSize(p.get(at)); spent+size > o.Budget {
				why = fmt.Sprintf("its %d bytes do not fit into the budget of %d, of which %d are left", size, o.Budget, o.Budget-spent)
			}
		}
		if why != "" {
			excluded = append(excluded, candidate{at, place, why, true})
			continue
		}
		spent += size
		picked = append(picked, candidate{at, place, r.explain(at), false})
	}
	return append(picked, excluded...)
}

// unfit returns why a definition may not be picked whatever its score. It reads the definition only
// if its name is not enough.
func (p *Picker) unfit(o Options, at int) string {
	switch {
	case slices.Contains(o.Except, p.names[at]):
		return "offered anyway"
	case !o.AllowUnsafe && !p.get(at).Safety.Safe:
		return "not declared safe"
	}
	return ""
}

func (o Options) weak(score float64, long bool) string {
	least := o.MinScore
	switch {
	case least == 0 && long:
		least = math.SmallestNonzeroFloat64
	case least == 0:
		least = DefaultMinScore
	}
	switch {
	case score >= least || least < 0:
		return ""
	case score == 0:
		return "nothing in it fits the query"
	}
	return fmt.Sprintf("scores less than %.2g", least)
}

// OfferSize estimates a definition's bytes in a request: name, description and offered schema in
// the JSON that most wire formats share.
func OfferSize(d tool.Definition) int {
	const frame = len(`{"type":"function","function":{"name":"","description":,"parameters":}},`)
	text, _ := json.Marshal(d.Description)
	return frame + len(d.Name) + len(text) + len(d.Offered())
}

// best returns the indexes by falling score, equal ones in order.
func best(scores []float64) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}
