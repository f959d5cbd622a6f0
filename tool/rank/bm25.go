package rank

import (
	"math"
	"slices"
	"strings"

	"adze/tool"
)

type field int

const (
	inName field = iota
	inAliases
	inTags
	inDescription
	inArguments
	inArgumentWords
	fields
)

func (f field) String() string {
	return [fields]string{"name", "aliases", "tags", "description", "arguments", "what the arguments are"}[f]
}

// Parameters, tuned on the dev half of testdata/pick.
const (
	saturation    = 0.8 // k1: how fast repeated words stop counting
	synonymWeight = 0.6 // a synonym's weight relative to the word itself
	guessWeight   = 0.6 // a prefix's or misspelling's weight
)

// weightOf weighs one occurrence; lengthOf is the penalty for a long field (b).
func weightOf(f field) float64 { return [fields]float64{3, 2, 2, 1, 0.5, 0.4}[f] }
func lengthOf(f field) float64 { return [fields]float64{0.3, 0.3, 0.3, 0.6, 0.6, 0.6}[f] }

// bm25Index ranks tools by the words they share with a query, weighted by rarity and by field
// (BM25F: Robertson, Zaragoza, Taylor, 2004). Names are split into words, endings are cut, and an
// unknown word matches as a prefix or with one wrong letter. The score is relative to a tool that
// had all query words and one more. It maps each term to its tools.
type bm25Index struct {
	terms    map[string]int // stem to term number
	postings [][]posting    // by term number
	names    []string       // stem by term number
	docs     int
}

// newIndex counts the words in all fields.
func newIndex(defs []tool.Definition) *bm25Index {
	x := &bm25Index{terms: make(map[string]int, 4*len(defs)), docs: len(defs)}
	c := &counter{index: x, lengths: make([][fields]int, len(defs))}
	for i, d := range defs {
		c.document(i, d)
	}
	c.finish()
	return x
}

type posting struct {
	doc    int
	counts [fields]uint8
	tf     float64 // weighted and normalized by length
}

// rarity returns a term's idf, given df tools with it; it is never negative.
func (x *bm25Index) rarity(df int) float64 {
	return math.Log(1 + (float64(x.docs)-float64(df)+0.5)/(float64(df)+0.5))
}

func (x *bm25Index) idf(term int) float64 {
	return x.rarity(len(x.postings[term]))
}

// score adds up each tool's score for each query word.
func (x *bm25Index) score(query string) ranking {
	scores := make([]float64, x.docs)
	best := make([]float64, x.docs)
	// A query with one common word says little, however well it fits: assume a missed rare word.
	words := x.words(query)
	ideal := x.rarity(1) + mostTelling(words)
	for _, w := range words {
		var touched []int
		for _, v := range w.variants {
			idf := x.idf(v.term)
			for _, p := range x.postings[v.term] {
				if best[p.doc] == 0 {
					touched = append(touched, p.doc)
				}
				best[p.doc] = max(best[p.doc], v.gain(idf, p))
			}
		}
		for _, doc := range touched {
			scores[doc] += best[doc]
			best[doc] = 0
		}
	}
	for i := range scores {
		scores[i] = min(1, scores[i]/max(ideal, 1e-9)) // no tool, no ideal
	}
	return ranking{scores: scores, explain: func(i int) string { return x.explain(words, i) }}
}

// tellingWords limits the query words that a tool can be expected to match: a long prompt has
// several subjects, and each tool fits a part.
const tellingWords = 8

// mostTelling returns the score for a tool with the query's rarest words in full.
func mostTelling(words []queryWord) (sum float64) {
	all := make([]float64, len(words))
	for i, w := range words {
		all[i] = w.ideal
	}
	slices.Sort(all)
	for _, ideal := range all[max(0, len(all)-tellingWords):] {
		sum += ideal
	}
	return sum
}

func (v variant) gain(idf float64, p posting) float64 {
	return v.weight * idf * p.tf / (saturation + p.tf)
}

// explain lists the query words that count for a tool.
func (x *bm25Index) explain(words []queryWord, i int) string {
	var parts []string
	for _, w := range words {
		if text := x.explainWord(w, i); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return "nothing in it fits the query"
	}
	return strings.Join(parts, "; ")
}

func (x *bm25Index) explainWord(w queryWord, doc int) (text string) {
	most := 0.0
	for _, v := range w.variants {
		idf := x.idf(v.term)
		for _, p := range x.postings[v.term] {
			if g := v.gain(idf, p); p.doc == doc && g > most {
				most, text = g, w.text+v.how+" in "+p.places()
			}
		}
	}
	return text
}

func (p posting) places() string {
	var out []string
	for f := range fields {
		if p.counts[f] > 0 {
			out = append(out, f.String())
		}
	}
	return strings.Join(out, ", ")
}
