package rank

import (
	"strings"

	"adze/tool/fuzzy"
)

// queryWord is one query word with the terms that may stand for it.
type queryWord struct {
	text     string
	variants []variant
	ideal    float64 // score for a tool with the full word
}

// variant is an index term that may stand for a query word.
type variant struct {
	term   int
	weight float64
	how    string // " (as issue)" for a term other than the word
}

// words returns a query's search words, each once.
func (x *bm25Index) words(query string) []queryWord {
	said := hints(query)
	q := &queryReader{index: x, seen: map[string]bool{}, stops: stopWords(), synonyms: synonymsOf(stems(query, said))}
	eachWord(query, q.word)
	for _, h := range said {
		q.ask(h.word+" (from "+h.value+")", stem(h.word))
	}
	return q.out
}

// stems returns those with possible synonyms in the query.
func stems(query string, said []hint) map[string]bool {
	out, before := map[string]bool{}, ""
	eachWord(query, func(w string) {
		out[stem(w)], out[stemPhrase(before+"_"+w)] = true, true
		before = w
	})
	for _, h := range said {
		out[stem(h.word)] = true
	}
	return out
}

type queryReader struct {
	index    *bm25Index
	synonyms thesaurus
	out      []queryWord
	seen     map[string]bool
	stops    map[string]bool
	before   string
}

func (q *queryReader) word(w string) {
	x, before := q.index, q.before
	q.before = w
	if phrase := stemPhrase(before + "_" + w); q.synonyms[phrase] != nil {
		q.ask(before+" "+w, phrase)
	}
	if len(w) < 2 || q.stops[w] {
		return
	}
	q.ask(w, stem(w))
	// "web hook" means webhook if a tool writes it so.
	if joined := stem(before + w); before != "" && x.has(joined) {
		q.ask(before+w, joined)
	}
}

func (q *queryReader) ask(text, term string) {
	if !q.seen[term] {
		q.seen[term] = true
		q.out = append(q.out, q.index.ask(text, term, q.synonyms))
	}
}

func (x *bm25Index) has(term string) bool { _, ok := x.terms[term]; return ok }

// ask collects the terms for one word. An unknown word adds little to the ideal: it is more often a
// name or a value than something to match.
func (x *bm25Index) ask(word, term string, synonyms thesaurus) queryWord {
	a := queryWord{text: word}
	if n, ok := x.terms[term]; ok {
		a.variants = append(a.variants, variant{term: n, weight: 1})
	}
	if len(a.variants) == 0 { // a word from the catalogue needs no synonym
		for _, other := range synonyms.of(term) {
			if n, ok := x.terms[other]; ok {
				a.variants = append(a.variants, variant{n, synonymWeight, " (as " + other + ")"})
			}
		}
	}
	if len(a.variants) == 0 {
		a.variants = x.guess(term)
	}
	if len(a.variants) == 0 {
		a.ideal = x.rarity(x.docs / 10)
		return a
	}
	for _, v := range a.variants {
		a.ideal = max(a.ideal, x.idf(v.term))
	}
	return a
}

// guess finds terms that start with the word, are its two halves, or differ in one letter.
func (x *bm25Index) guess(term string) (out []variant) {
	const shortest, typo = 3, 5 // least letters for a prefix, and for a misspelling
	if len(term) < shortest {
		return nil
	}
	for n, name := range x.names {
		if strings.HasPrefix(name, term) {
			out = append(out, variant{n, guessWeight, " (as " + name + ")"})
		}
	}
	if len(out) == 0 {
		out = x.halves(term, shortest)
	}
	if len(out) > 0 || len(term) < typo {
		return out
	}
	for n, name := range x.names {
		if off := len(name) - len(term); name[0] == term[0] && -1 <= off && off <= 1 && fuzzy.Distance(name, term) == 1 {
			out = append(out, variant{n, guessWeight, " (as " + name + ")"})
		}
	}
	return out
}

// halves splits "webhook" into web and hook if tools have both.
func (x *bm25Index) halves(term string, shortest int) []variant {
	for at := shortest; at <= len(term)-shortest; at++ {
		first, second := stem(term[:at]), term[at:]
		a, knowsFirst := x.terms[first]
		b, knowsSecond := x.terms[second]
		if knowsFirst && knowsSecond {
			return []variant{{a, guessWeight, " (as " + first + ")"}, {b, guessWeight, " (as " + second + ")"}}
		}
	}
	return nil
}
