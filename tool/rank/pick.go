// Package rank chooses among many definitions of tools those that fit a query, and says why the
// others do not.
//
// The one rule: it is pure. It runs no tool, keeps nothing between two picks but an index of the
// definitions, and the same input gives the same answer.
//
// Start reading at Tools and Picker in pick.go. bm25.go gives scores, with count.go for how its
// index is made, query.go for what is asked of it, words.go, synonyms.go and hints.go for what
// words and values mean. choose.go goes from scores to results. A test measures recall on
// testdata/pick.
//
// Known limits: BM25 knows English words only, and cannot find a tool that shares neither a word
// nor a synonym with the query; the synonyms were written by the hand that wrote most of the
// labelled set, so recall on other catalogues may be lower.
package rank

import (
	"strings"
	"sync"

	"adze/tool"
)

// Defaults of Options.
const (
	DefaultMaxCandidates = 3
	DefaultMinScore      = 0.05
)

// Name is that of the way in which tools are scored.
const Name = "bm25"

// Options says what Tools may return. The zero value: three safe tools.
type Options struct {
	MaxCandidates int     // if 0, DefaultMaxCandidates
	MinScore      float64 // if 0, DefaultMinScore, but for a long query any score above 0; negative: none
	// AllowUnsafe also returns tools that are not declared safe. Whoever sets it has a gate.
	AllowUnsafe bool
	// Debug also returns what was excluded, behind the picks, each with its reason.
	Debug bool
	// Except names tools that are left out because they are offered anyway.
	Except []string
	// Budget is how many bytes of JSON all picks may take together in a request; if 0, any.
	Budget int
}

// Result is one candidate.
type Result struct {
	Definition tool.Definition `json:"definition"`
	Score      float64         `json:"score"` // 0 to 1
	Reason     string          `json:"reason"`
	Excluded   bool            `json:"excluded,omitempty"` // only with Debug
	// Rank is the place among all tools by score, from 1; Of is how many there were.
	Rank int `json:"rank"`
	Of   int `json:"of"`
}

// Tools chooses the definitions that fit a query best. It runs no tool. The same input gives the
// same answer; equal scores stay in the order of defs. Whoever asks the same definitions often
// makes a Picker.
func Tools(query string, defs []tool.Definition, o Options) []Result { return New(defs).Pick(query, o) }

// Picker keeps an index of some definitions, which is made at the first Pick. It is safe for
// concurrent use.
type Picker struct {
	names []string
	get   func(i int) tool.Definition
	brief bool // results hold no definition of what is excluded
	index func() *bm25Index
}

// maxQuery is how much of a query counts, in bytes: what a user wants stands before the log that
// was pasted behind it, and the time of a pick must have a bound. longQuery is how many words a
// query may have for the default least score to mean something.
const maxQuery, longQuery = 4 << 10, 12

// New makes a Picker.
func New(defs []tool.Definition) *Picker {
	names := make([]string, len(defs))
	for i, d := range defs {
		names[i] = d.Name
	}
	return newPicker(names, func(i int) tool.Definition { return defs[i] })
}

// Of makes a Picker for the tools of a set. What is excluded has a name in the results, and no
// more.
func Of(set *tool.Set) *Picker {
	names := set.Names()
	p := newPicker(names, func(i int) tool.Definition {
		d, _ := set.Get(names[i])
		return d
	})
	p.brief = true
	return p
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

// rate scores all definitions.
func (p *Picker) rate(query string) ranking {
	if len(query) > maxQuery {
		query = strings.ToValidUTF8(query[:maxQuery], "")
	}
	r := p.index().score(query)
	r.order, r.long = best(r.scores), len(strings.Fields(query)) > longQuery
	return r
}

// ranking is the definitions by falling score.
type ranking struct {
	order   []int
	scores  []float64 // from 0 (nothing fits) to 1
	explain func(i int) string
	long    bool // the query says so much that a part of it is all that a tool can fit
}

// Pick is Tools for the definitions of the Picker.
func (p *Picker) Pick(query string, o Options) []Result {
	r := p.rate(query)
	var results []Result
	for _, c := range p.choose(o, r) {
		if c.excluded && !o.Debug {
			continue
		}
		d := tool.Definition{Name: p.names[c.at]}
		if !c.excluded || !p.brief {
			d = p.get(c.at).Clone()
		}
		results = append(results, Result{Definition: d, Score: r.scores[c.at], Reason: c.reason, Excluded: c.excluded, Rank: c.place + 1, Of: len(p.names)})
	}
	return results
}
