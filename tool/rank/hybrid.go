package rank

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"adze/tool"
)

// Hybrid adds up what several scorers say, by weight. One that fails is left out of that answer;
// only when all fail does Hybrid.
type Hybrid struct{ Parts []Weighted }

// Weighted is a scorer's part in a Hybrid. A weight of 0 counts as 1.
type Weighted struct {
	Scorer Scorer
	Weight float64
}

// Name is "hybrid" and its parts.
func (h Hybrid) Name() string {
	var names []string
	for _, p := range h.Parts {
		names = append(names, p.Scorer.Name())
	}
	return "hybrid(" + strings.Join(names, " + ") + ")"
}

// Index makes the indexes of all parts.
func (h Hybrid) Index(ctx context.Context, defs []tool.Definition) (Index, error) {
	x := &hybridIndex{docs: len(defs)}
	var errs []error
	for _, p := range h.Parts {
		index, err := guarded(func() (Index, error) { return p.Scorer.Index(ctx, defs) })
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.Scorer.Name(), err))
			continue
		}
		if p.Weight == 0 {
			p.Weight = 1
		}
		x.parts = append(x.parts, hybridPart{p.Scorer.Name(), p.Weight, index})
	}
	if len(x.parts) == 0 {
		return nil, errors.Join(append(errs, errors.New("no part of the hybrid works"))...)
	}
	return x, nil
}

type hybridIndex struct {
	parts []hybridPart
	docs  int
}

type hybridPart struct {
	name   string
	weight float64
	index  Index
}

func (x *hybridIndex) Score(ctx context.Context, query string) (Scores, error) {
	sum := Scores{Values: make([]float64, x.docs)}
	total := 0.0
	var errs []error
	var reasons []func(int) string
	for _, p := range x.parts {
		s, err := guarded(func() (Scores, error) { return p.index.Score(ctx, query) })
		if err == nil && len(s.Values) != x.docs {
			err = fmt.Errorf("it scored %d of %d tools", len(s.Values), x.docs)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.name, err))
			reasons = append(reasons, func(int) string { return p.name + " failed" })
			continue
		}
		total += p.weight
		for i, v := range s.Values {
			sum.Values[i] += p.weight * v
		}
		reasons = append(reasons, func(i int) string { return fmt.Sprintf("%s %.2f: %s", p.name, s.Values[i], s.Explain(i)) })
	}
	if total == 0 {
		return Scores{}, errors.Join(errs...)
	}
	for i := range sum.Values {
		sum.Values[i] /= total
	}
	sum.Explain = func(i int) string {
		var parts []string
		for _, r := range reasons {
			parts = append(parts, r(i))
		}
		return strings.Join(parts, " | ")
	}
	return sum, nil
}
