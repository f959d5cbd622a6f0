package rank

import (
	"math"
	"slices"
	"strings"

	"adze/tool"
)

// field is where a word of a tool stands.
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

// Constants of the formula, chosen on the dev half of testdata/pick.
const (
	saturation    = 0.8 // k1: how soon more of a word stops to count
	synonymWeight = 0.6 // a synonym counts this part of the word itself
	guessWeight   = 0.6 // so does a beginning or a misspelling
)

// weightOf is how much one occurrence counts, lengthOf how much a long field is held against it
// (b).
func weightOf(f field) float64 { return [fields]float64{3, 2, 2, 1, 0.5, 0.4}[f] }
func lengthOf(f field) float64 { return [fields]float64{0.3, 0.3, 0.3, 0.6, 0.6, 0.6}[f] }

// bm25Index ranks by the words that a query and a tool share, weighted by how rare a word is and by
// where it stands (BM25F: Robertson, Zaragoza, Taylor, 2004). Names fall apart into their words,
// endings are cut, and a word that no tool has is looked for as beginning of one, or with one
// letter wrong. The score is the part that was reached of what a tool with all words of the query,
// and one more, would get. It holds, for each term, the tools it stands in.
type bm25Index struct {
	terms    map[string]int // number of a term, by stem
	postings [][]posting    // by number of the term
	names    []string       // stems, by number
	docs     int
}

// newIndex counts the words of all fields.
func newIndex(defs []tool.Definition) *bm25Index {
	x := &bm25Index{terms: make(map[string]int, 4*len(defs)), docs: len(defs)}
	c := &counter{index: x, lengths: make([][fields]int, len(defs))}
	for i, d := range defs {
		c.document(i, d)
	}
	c.finish()
	return x
}

// posting is one term in one tool.
type posting struct {
	doc    int
	counts [fields]uint8
	tf     float64 // weighted and normalised by length
}

// rarity is the idf of a term that df tools have; it is never negative.
func (x *bm25Index) rarity(df int) float64 {
	return math.Log(1 + (float64(x.docs)-float64(df)+0.5)/(float64(df)+0.5))
}

// idf is the rarity of a term.
func (x *bm25Index) idf(term int) float64 {
	return x.rarity(len(x.postings[term]))
}

// score adds up what each word of the query gives each tool.
func (x *bm25Index) score(query string) ranking {
	scores := make([]float64, x.docs)
	best := make([]float64, x.docs)
	// A query of one common word says little, however well it fits: one rare word more is always
	// missed.
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

// tellingWords is how many words of a query a tool can be asked to match: a long prompt tells of
// more than one thing, and each tool fits a part of it.
const tellingWords = 8

// mostTelling is what a tool gets that has the rarest words of a query in full.
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

// explain names the words of the query that count for a tool.
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
