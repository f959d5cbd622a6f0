package pick

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"adze/tool"
)

// choose parts results, which come best first, into picks and the rest, and gives each its reason.
func (o Options) choose(results []Result, r rating) (picked, excluded []Result) {
	limit := o.MaxCandidates
	if limit <= 0 {
		limit = DefaultMaxCandidates
	}
	spent := 0
	for place, c := range results {
		why := o.unfit(c.Definition)
		if why == "" && r.fallback == "" {
			why = o.weak(c.Score, r.long)
		}
		size := 0
		if why == "" && o.Budget > 0 {
			if size = OfferSize(c.Definition); spent+size > o.Budget {
				why = fmt.Sprintf("its %d bytes do not fit into the budget of %d, of which %d are left", size, o.Budget, o.Budget-spent)
			}
		}
		if why == "" && len(picked) >= limit {
			why = fmt.Sprintf("not among the best %d", limit)
		}
		if why != "" {
			c.Reason, c.Excluded = why, true
			excluded = append(excluded, c)
			continue
		}
		spent += size
		c.Reason = r.reason(place)
		picked = append(picked, c)
	}
	return picked, excluded
}

func (r rating) reason(place int) string {
	if r.scores.Explain == nil {
		return "in the order of registration"
	}
	why, err := guarded(func() (string, error) { return r.scores.Explain(r.order[place]), nil })
	if err != nil {
		return "the scorer cannot say why: " + err.Error()
	}
	return why
}

// unfit says why a definition may not be picked whatever its score.
func (o Options) unfit(d tool.Definition) string {
	forRole := func(role string) bool { return slices.Contains(o.Roles, role) }
	switch want, has := o.Capabilities, d.Capabilities; {
	case slices.Contains(o.Except, d.Name):
		return "offered anyway"
	case !o.AllowUnsafe && !d.Safety.Safe:
		return "not declared safe"
	case len(o.Roles) > 0 && len(d.Roles) > 0 && !slices.ContainsFunc(d.Roles, forRole):
		return fmt.Sprintf("for other roles: %v", d.Roles)
	case want.Streaming && !has.Streaming:
		return "cannot stream"
	case want.Background && !has.Background:
		return "cannot run in the background"
	case want.Attachments && !has.Attachments:
		return "takes no attachments"
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

// OfferSize is about how many bytes a definition takes in a request: name, description and the offered
// schema in the frame that most wire formats share.
func OfferSize(d tool.Definition) int {
	const frame = len(`{"type":"function","function":{"name":"","description":,"parameters":}},`)
	text, _ := json.Marshal(d.Description) // a string always encodes
	return frame + len(d.Name) + len(text) + len(d.Offered())
}
