package tool

import "strings"

// asked is one word of a query with all terms that may stand for it.
type asked struct {
	text     string
	variants []variant
	ideal    float64 // what a tool gets that has the word in full
}

// variant is a term of the index that stands for a word of the query.
type variant struct {
	term   int
	weight float64
	how    string // " (as issue)" for a term that is not the word itself
}

// words turns a query into what to look for; a word counts once.
func (x *bm25Index) words(query string) []asked {
	var out []asked
	seen := map[string]bool{}
	before, stops := "", stopWords()
	eachWord(query, func(w string) {
		joined := before + w
		before = w
		if len(w) < 2 || stops[w] {
			return
		}
		if s := stem(w); !seen[s] {
			seen[s] = true
			out = append(out, x.ask(w, s))
		}
		// "web hook" is webhook where a tool writes it so.
		if s := stem(joined); joined != w && x.has(s) && !seen[s] {
			seen[s] = true
			out = append(out, x.ask(joined, s))
		}
	})
	return out
}

func (x *bm25Index) has(term string) bool { _, ok := x.terms[term]; return ok }

// ask collects the terms for one word. A word that nobody knows counts for the ideal only a little: it is
// more often a name or a value than something a tool could match.
func (x *bm25Index) ask(word, term string) asked {
	a := asked{text: word}
	if n, ok := x.terms[term]; ok {
		a.variants = append(a.variants, variant{term: n, weight: 1})
	}
	for _, other := range x.synonyms[term] {
		if n, ok := x.terms[other]; ok {
			a.variants = append(a.variants, variant{n, synonymWeight, " (as " + other + ")"})
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
		a.ideal = max(a.ideal, x.idf[v.term])
	}
	return a
}

// guess finds terms that begin as the word does, or differ from it in one letter.
func (x *bm25Index) guess(term string) (out []variant) {
	const shortest, typo = 3, 5 // letters that a beginning, and a word with a mistake, must have
	if len(term) < shortest {
		return nil
	}
	for n, name := range x.names {
		if strings.HasPrefix(name, term) {
			out = append(out, variant{n, guessWeight, " (as " + name + ")"})
		}
	}
	if len(out) > 0 || len(term) < typo {
		return out
	}
	for n, name := range x.names {
		if off := len(name) - len(term); name[0] == term[0] && -1 <= off && off <= 1 && distance(name, term) == 1 {
			out = append(out, variant{n, guessWeight, " (as " + name + ")"})
		}
	}
	return out
}
