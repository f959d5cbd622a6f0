package tool

import (
	"context"
	"fmt"
	"strings"
)

// Scorer says how well tools fit a query. Contract:
//   - Index reads the definitions once; it must not keep what it may not share: it is called from any
//     goroutine;
//   - it never runs a tool;
//   - the same definitions and query give the same scores, as far as what it asks does.
type Scorer interface {
	// Name says which scorer it was, in provenance: "bm25".
	Name() string
	Index(ctx context.Context, defs []Definition) (Index, error)
}

// Index is a scorer's view of some definitions. It is safe for concurrent use.
type Index interface {
	// Score rates every definition, in their order, from 0 (nothing fits) to 1.
	Score(ctx context.Context, query string) ([]float64, error)
	// Explain says in a few words why definition i has its score for the query.
	Explain(query string, i int) string
}

// DefaultScorer is the one that measures best on testdata/pick without asking anybody: BM25.
func DefaultScorer() Scorer { return BM25{} }

// Keyword is plain overlap: which part of the query's words stands in a tool's name, description or tags.
// It is what the others are measured against.
type Keyword struct{}

// Name is "keyword".
func (Keyword) Name() string { return "keyword" }

// Index collects each definition's words.
func (Keyword) Index(_ context.Context, defs []Definition) (Index, error) {
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

func (x keywordIndex) Score(ctx context.Context, query string) ([]float64, error) {
	asked := plainWords(query)
	scores := make([]float64, len(x))
	if len(asked) == 0 {
		return scores, ctx.Err()
	}
	for i, words := range x {
		hits := 0
		for _, w := range asked {
			if words[w] {
				hits++
			}
		}
		scores[i] = float64(hits) / float64(len(asked))
	}
	return scores, ctx.Err()
}

func (x keywordIndex) Explain(query string, i int) string {
	asked := plainWords(query)
	var hits []string
	for _, w := range asked {
		if x[i][w] {
			hits = append(hits, w)
		}
	}
	return fmt.Sprintf("%d of %d words: %s", len(hits), len(asked), strings.Join(hits, ", "))
}

// plainWords lists the distinct words of a text in lower case: what stands between characters that are
// neither letter nor digit.
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
