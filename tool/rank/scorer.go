package rank

import (
	"context"
	"fmt"
	"strings"

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

// Keyword is plain overlap: which part of the query's words stands in a tool's name, description or
// tags. It is what the others are measured against.
type Keyword struct{}

// Name is "keyword".
func (Keyword) Name() string { return "keyword" }

// Index collects each definition's words.
func (Keyword) Index(_ context.Context, defs []tool.Definition) (Index, error) {
	index := make(keywordIndex, len(defs))
	for i, d := range defs {
		index[i] = map[string]bool{}
		for _, w := range plainWords(d.Name + " " + d.Description + " " + strings.Join(d.Tags, " ")) {
			index[i][w] = true
		}
	}
	return index, nil
}

type keywordIndex []map[string]bool

func (x keywordIndex) Score(ctx context.Context, query string) (Scores, error) {
	asked := plainWords(query)
	scores := make([]float64, len(x))
	for i := range x {
		scores[i] = float64(len(x.hits(asked, i))) / float64(max(1, len(asked)))
	}
	return Scores{scores, func(i int) string {
		hits := x.hits(asked, i)
		return fmt.Sprintf("%d of %d words: %s", len(hits), len(asked), strings.Join(hits, ", "))
	}}, ctx.Err()
}

func (x keywordIndex) hits(asked []string, i int) (hits []string) {
	for _, w := range asked {
		if x[i][w] {
			hits = append(hits, w)
		}
	}
	return hits
}

// plainWords lists the distinct words of a text in lower case: what stands between characters that
// are neither letter nor digit.
func plainWords(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), notWordRune) {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}
