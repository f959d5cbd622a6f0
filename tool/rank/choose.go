package rank

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"adze/tool"
)

// candidate is what becomes of one definition.
type candidate struct {
	at, place int // among the definitions, and by score
	reason    string
	excluded  bool
}

// choose says of each definition whether it is picked and why; the picks come first, each part by
// score.
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

// unfit says why a definition may not be picked whatever its score. It is read only where more than
// its name counts.
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

// OfferSize is about how many bytes a definition takes in a request: name, description and the
// offered schema in the frame that most wire formats share.
func OfferSize(d tool.Definition) int {
	const frame = len(`{"type":"function","function":{"name":"","description":,"parameters":}},`)
	text, _ := json.Marshal(d.Description) // a string always encodes
	return frame + len(d.Name) + len(text) + len(d.Offered())
}

// best lists the places of scores, best first, equal ones in order.
func best(scores []float64) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}
