package rank

import (
	"encoding/json"
	"maps"
	"math"
	"slices"

	"adze/tool"
)

type counter struct {
	index   *bm25Index
	stems   map[string]string // a cache, since most words recur
	stops   map[string]bool
	lengths [][fields]int
}

func (c *counter) document(i int, d tool.Definition) {
	c.text(i, inName, d.Name)
	for _, a := range d.Aliases {
		c.text(i, inAliases, a)
	}
	for _, t := range d.Tags {
		c.text(i, inTags, t)
	}
	c.text(i, inDescription, d.Description)
	c.arguments(i, d.Parameters)
}

// arguments counts the names and descriptions in a schema, also in nested lists and objects.
func (c *counter) arguments(i int, schema json.RawMessage) {
	var s argumentSchema
	if json.Unmarshal(schema, &s) == nil { // an unusual schema has no words
		c.properties(i, s, maxArgumentDepth)
	}
}

// maxArgumentDepth limits the arguments' depth: a list's item, and its content.
const maxArgumentDepth = 3

type argumentSchema struct {
	Description string                    `json:"description"`
	Properties  map[string]argumentSchema `json:"properties"`
	Items       json.RawMessage           `json:"items"`
}

func (c *counter) properties(i int, s argumentSchema, depth int) {
	if depth == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		c.text(i, inArguments, name)
		c.text(i, inArgumentWords, s.Properties[name].Description)
		c.properties(i, s.Properties[name], depth-1)
	}
	var items argumentSchema
	if len(s.Items) > 0 && json.Unmarshal(s.Items, &items) == nil {
		c.properties(i, items, depth-1)
	}
}

func (c *counter) text(doc int, f field, text string) {
	if c.stems == nil {
		c.stems, c.stops = map[string]string{}, stopWords()
	}
	eachWord(text, func(w string) {
		if len(w) < 2 || c.stops[w] {
			return
		}
		s, known := c.stems[w]
		if !known {
			s = stem(w)
			c.stems[w] = s
		}
		c.count(doc, f, s)
	})
}

func (c *counter) count(doc int, f field, term string) {
	x := c.index
	n, ok := x.terms[term]
	if !ok {
		n = len(x.names)
		x.terms[term] = n
		x.names = append(x.names, term)
		x.postings = append(x.postings, nil)
	}
	list := x.postings[n]
	if len(list) == 0 || list[len(list)-1].doc != doc {
		list = append(list, posting{doc: doc})
		x.postings[n] = list
	}
	counts := &list[len(list)-1].counts
	counts[f] = min(counts[f], math.MaxUint8-1) + 1
	c.lengths[doc][f]++
}

// finish turns counts into weights once the average lengths are known.
func (c *counter) finish() {
	x := c.index
	var average [fields]float64
	for _, lengths := range c.lengths {
		for f, n := range lengths {
			average[f] += float64(n) / float64(max(1, x.docs))
		}
	}
	for _, list := range x.postings {
		for i := range list {
			list[i].tf = weigh(list[i].counts, c.lengths[list[i].doc], average)
		}
	}
}

func weigh(counts [fields]uint8, lengths [fields]int, average [fields]float64) (tf float64) {
	for f := range fields {
		if counts[f] > 0 {
			b := lengthOf(f)
			tf += weightOf(f) * float64(counts[f]) / (1 - b + b*float64(lengths[f])/average[f])
		}
	}
	return tf
}
