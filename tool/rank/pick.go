// Package rank selects the tool definitions that fit a query, and explains why the others do not.
//
// The one rule: it is pure. It runs no tool, keeps nothing but an index, and the same input gives
// the same result.
//
// Start reading at Tools and Picker in pick.go. bm25.go scores, with count.go to build the index,
// query.go to read queries, and words.go, synonyms.go and hints.go for the meaning of words and
// values. choose.go turns scores into results. A test measures recall on testdata/pick.
//
// Known limits: BM25 knows English words only, and cannot find a tool that shares neither a word
// nor a synonym with the query. The author of the synonyms also wrote most labels, so recall on
// other catalogues may be lower.
package rank

import (
	"slices"
	"strings"
	"sync"

	"adze/tool"
)

// Defaults of Options.
const (
	DefaultMaxCandidates = 3
	DefaultMinScore      = 0.05
)

// Name is the scoring method's name.
const Name = "bm25"

// Options restrict the result of Tools. The zero value: three safe tools.
type Options struct {
	MaxCandidates int     // 0 means DefaultMaxCandidates
	MinScore      float64 // 0 means DefaultMinScore, but any positive score for a long query; negative: none
	// AllowUnsafe also returns tools not declared safe. Callers that set it need a gate.
	AllowUnsafe bool
	// Debug also returns excluded tools after the picks, with reasons.
	Debug bool
	// Except lists tools to omit because they are offered anyway.
	Except []string
	// Budget limits all picks' JSON bytes in a request; 0 means no limit.
	Budget int
}

// Result is one candidate.
type Result struct {
	Definition tool.Definition `json:"definition"`
	Score      float64         `json:"score"` // 0 to 1
	Reason     string          `json:"reason"`
	Excluded   bool            `json:"excluded,omitempty"` // only with Debug
	// Rank is the place among all tools by score, from 1; Of is the number of tools.
	Rank int `json:"rank"`
	Of   int `json:"of"`
}

// Tools returns the definitions that fit a query best. It runs no tool. The same input gives the
// same result; equal scores stay in the order of defs. For repeated queries use a Picker.
func Tools(query string, defs []tool.Definition, o Options) []Result { return New(defs).Pick(query, o) }

// Picker keeps an index, built at the first Pick. It is safe for concurrent use.
type Picker struct {
	names []string
	get   func(i int) tool.Definition
	index func() *bm25Index
}

// maxQuery limits a query in bytes: the user's request precedes a pasted log, and the time must be
// limited. longQuery is the word count up to which the default minimum score is useful.
const maxQuery, longQuery = 4 << 10, 12

// New returns a Picker.
func New(defs []tool.Definition) *Picker {
	names := make([]string, len(defs))
	for i, d := range defs {
		names[i] = d.Name
	}
	return newPicker(names, func(i int) tool.Definition { return defs[i] })
}

// Of returns a Picker for a set's tools.
func Of(set *tool.Set) *Picker {
	names := set.Names()
	return newPicker(names, func(i int) tool.Definition {
		d, _ := set.Get(names[i])
		return d
	})
}

func newPicker(names []string, get func(i int) tool.Definition) *Picker {
	return &Picker{names: names, get: get, index: sync.OnceValue(func() *bm25Index {
		defs := make([]tool.Definition, len(names))
		for i := range defs {
			defs[i] = get(i)
		}
		return newIndex(defs)
	})}
}

func (p *Picker) rate(query string) ranking {
	if len(query) > maxQuery {
		query = strings.ToValidUTF8(query[:maxQuery], "")
	}
	r := p.index().score(query)
	r.order, r.long = best(r.scores), len(strings.Fields(query)) > longQuery
	return r
}

// ranking holds the definitions by falling score.
type ranking struct {
	order   []int
	scores  []float64 // 0 (nothing fits) to 1
	explain func(i int) string
	long    bool // the query is so long that tools fit only a part
}

// Pick is Tools for the Picker's definitions.
func (p *Picker) Pick(query string, o Options) []Result {
	r := p.rate(query)
	chosen := p.choose(o, r)
	if !o.Debug {
		chosen = slices.DeleteFunc(chosen, func(c candidate) bool { return c.excluded })
	}
	results := make([]Result, 0, len(chosen))
	for _, c := range chosen {
		d := p.get(c.at).Clone()
		results = append(results, Result{Definition: d, Score: r.scores[c.at], Reason: c.reason, Excluded: c.excluded, Rank: c.place + 1, Of: len(p.names)})
	}
	return results
}

// Choice is the verdict on one tool.
type Choice struct {
	Name, Reason string
	Excluded     bool
}

// Choose returns the verdict on every tool, the picks first. It copies no definition.
func (p *Picker) Choose(query string, o Options) []Choice {
	chosen := p.choose(o, p.rate(query))
	list := make([]Choice, len(chosen))
	for i, c := range chosen {
		list[i] = Choice{p.names[c.at], c.reason, c.excluded}
	}
	return list
}
