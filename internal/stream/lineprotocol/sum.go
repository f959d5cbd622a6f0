package lineprotocol

import (
	"maps"
	"slices"

	"adze/session"
	"adze/tool"
)

// sum joins two turns' results: the end of the last one, and the usage of both.
func sum(a, b session.Result) session.Result {
	out := b
	out.Steps += a.Steps
	out.Duration += a.Duration
	out.Usage = addUsage(a.Usage, b.Usage)
	out.Calls = addCalls(a.Calls, b.Calls)
	out.Denied = slices.Concat(a.Denied, b.Denied)
	out.Notes = slices.Concat(a.Notes, b.Notes)
	out.Changed = joined(a.Changed, b.Changed)
	out.Cost = addCost(a, b)
	if b.Plan == nil {
		out.Plan = a.Plan
	}
	return out
}

func addUsage(a, b map[string]session.Usage) map[string]session.Usage {
	out := maps.Clone(a)
	if out == nil {
		return b
	}
	for model, u := range b {
		out[model] = out[model].Add(u)
	}
	return out
}

func addCalls(a, b map[string]map[tool.Status]int) map[string]map[tool.Status]int {
	out := map[string]map[tool.Status]int{}
	for _, calls := range []map[string]map[tool.Status]int{a, b} {
		for name, by := range calls {
			if out[name] == nil {
				out[name] = map[tool.Status]int{}
			}
			for status, n := range by {
				out[name][status] += n
			}
		}
	}
	return out
}

// addCost returns nil if a request's cost is unknown. A turn without requests costs nothing.
func addCost(a, b session.Result) *float64 {
	switch {
	case a.Steps == 0 && a.Cost == nil:
		return b.Cost
	case b.Steps == 0 && b.Cost == nil:
		return a.Cost
	case a.Cost == nil || b.Cost == nil:
		return nil
	}
	both := *a.Cost + *b.Cost
	return &both
}

func joined(a, b []string) []string {
	out := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
