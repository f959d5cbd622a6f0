package rank

import (
	"context"

	"adze/tool"
)

// Scorer says how well tools fit a query. Contract:
//   - Index reads the definitions once; it must not keep what it may not share: it is called from
//     any goroutine;
//   - it never runs a tool;
//   - the same definitions and query give the same scores, as far as what it asks does.
type Scorer interface {
	// Name says which scorer it was, in provenance: "bm25".
	Name() string
	Index(ctx context.Context, defs []tool.Definition) (Index, error)
}

// Index is a scorer's view of some definitions. It is safe for concurrent use.
type Index interface {
	Score(ctx context.Context, query string) (Scores, error)
}

// Scores are what an Index says about one query.
type Scores struct {
	// Values rate every definition, in their order, from 0 (nothing fits) to 1.
	Values []float64
	// Explain says in a few words why definition i has its score.
	Explain func(i int) string
}

// DefaultScorer is the one that measures best on testdata/pick without asking anybody: BM25.
func DefaultScorer() Scorer { return BM25{} }
