// Package rank chooses among many definitions of tools those that fit a query, and says why the
// others do not.
//
// The one rule: it is pure. It runs no tool, keeps nothing between two picks but an index of the
// definitions, and the same input gives the same answer. What a scorer brings may fail, panic or
// take too long: then the order is that of registration, and every result says so.
//
// Start reading at Tools in pick.go and at Picker in picker.go. scorer.go has the port. bm25.go is
// the default, with count.go for how its index is made, query.go for what is asked of it, words.go,
// synonyms.go and hints.go for what words and values mean. choose.go goes from scores to results. A
// test measures recall on testdata/pick.
//
// Known limits: BM25 knows English words only, and cannot find a tool that shares neither a word
// nor a synonym with the query; the synonyms were written by the hand that wrote most of the
// labelled set, so recall on other catalogues may be lower.
package rank

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/tool"
)

// Defaults of Options.
const (
	DefaultMaxCandidates = 3
	DefaultMinScore      = 0.05
)

// Options says what Tools may return. The zero value: three safe tools by the default scorer.
type Options struct {
	MaxCandidates int     // if 0, DefaultMaxCandidates
	MinScore      float64 // if 0, DefaultMinScore, but for a long query any score above 0; negative: none
	// AllowUnsafe also returns tools that are not declared safe. Whoever sets it has a gate.
	AllowUnsafe bool
	Scorer      Scorer        // if nil, DefaultScorer
	Timeout     time.Duration // for the scorer; if 0, only ctx bounds it
	// Debug also returns what was excluded, behind the picks, each with its reason.
	Debug bool
	// Roles leaves out tools that are for other roles; a tool without roles is for all.
	Roles []string
	// Capabilities are those that a tool must have.
	Capabilities tool.Capabilities
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
	Provenance Provenance      `json:"provenance"`
}

// Provenance says how a candidate came to its place.
type Provenance struct {
	Scorer string `json:"scorer"`
	// Rank is the place among all tools by score, from 1; 0 when nothing was scored.
	Rank int `json:"rank"`
	// Of is how many tools there were.
	Of int `json:"of"`
	// Fallback says why the order is that of registration.
	Fallback string `json:"fallback,omitempty"`
}

// Tools chooses the definitions that fit a query best. It runs no tool. The same input gives the
// same answer; equal scores stay in the order of defs. A scorer that fails or takes too long is
// replaced by the order of defs, and every result says so. Whoever asks the same definitions often
// makes a Picker.
func Tools(ctx context.Context, query string, defs []tool.Definition, o Options) []Result {
	return New(defs, o.Scorer).Pick(ctx, query, o)
}

// rankResult is what the scorer said: the definitions by falling score, or why there are no scores.
type rankResult struct {
	order    []int
	scores   Scores
	fallback string
	long     bool // the query says so much that a part of it is all that a tool can fit
}

// longQuery is how many words a query may have for the default least score to mean something.
const longQuery = 12

func (r rankResult) score(i int) float64 {
	if r.scores.Values == nil {
		return 0
	}
	return r.scores.Values[i]
}

// inRange copies scores into 0 to 1; what is no number is 0.
func inRange(scores []float64) []float64 {
	out := make([]float64, len(scores))
	for i, s := range scores {
		if s > 0 { // false for NaN
			out[i] = min(s, 1)
		}
	}
	return out
}

// rate asks the scorer and bounds how long it may take.
func (p *Picker) rate(ctx context.Context, query string, timeout time.Duration) rankResult {
	if len(query) > maxQuery {
		query = strings.ToValidUTF8(query[:maxQuery], "")
	}
	r := rankResult{order: make([]int, len(p.names)), long: len(strings.Fields(query)) > longQuery}
	for i := range r.order {
		r.order[i] = i
	}
	scores, err := p.ask(ctx, query, timeout)
	if err == nil && len(scores.Values) != len(p.names) {
		err = fmt.Errorf("it scored %d of %d tools", len(scores.Values), len(p.names))
	}
	if err != nil {
		r.fallback = fmt.Sprintf("%s: %s; tools are in the order of registration", p.name(), slow(err, timeout))
		return r
	}
	r.scores = Scores{inRange(scores.Values), scores.Explain}
	r.order = best(r.scores.Values)
	return r
}

// name is the scorer's, or what stands for one that cannot even say that.
func (p *Picker) name() string {
	name, err := guarded(func() (string, error) { return p.scorer.Name(), nil })
	if err != nil {
		return "the scorer"
	}
	return name
}

func slow(err error, timeout time.Duration) string {
	if errors.Is(err, context.DeadlineExceeded) && timeout > 0 {
		return fmt.Sprintf("took longer than %s", timeout)
	}
	return err.Error()
}

// ask waits for the scorer until the timeout. One that does not look at its context goes on in the
// background; its answer is dropped.
func (p *Picker) ask(ctx context.Context, query string, timeout time.Duration) (Scores, error) {
	if timeout <= 0 {
		return p.scores(ctx, query)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	type answer struct {
		scores Scores
		err    error
	}
	wait := make(chan answer, 1)
	go func() {
		scores, err := p.scores(ctx, query)
		wait <- answer{scores, err}
	}()
	select {
	case a := <-wait:
		return a.scores, a.err
	case <-ctx.Done():
		return Scores{}, ctx.Err()
	}
}

func (p *Picker) scores(ctx context.Context, query string) (Scores, error) {
	return guarded(func() (Scores, error) {
		index, err := p.indexed(ctx)
		if err != nil {
			return Scores{}, err
		}
		return index.Score(ctx, query)
	})
}

// guarded runs code of a scorer. What panics has failed, and takes nothing else with it.
func guarded[T any](f func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it failed inside: %.200v", p)
		}
	}()
	return f()
}
