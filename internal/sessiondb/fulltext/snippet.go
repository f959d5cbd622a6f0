package fulltext

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// A Snippet is one line of text around the found words.
type Snippet []Piece

// A Piece is part of a snippet.
type Piece struct {
	Text string
	Hit  bool // it matches the query
}

// String returns the snippet's text.
func (s Snippet) String() string {
	var b strings.Builder
	for _, p := range s {
		b.WriteString(p.Text)
	}
	return b.String()
}

// MarshalJSON encodes the text alone.
func (s Snippet) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// snippetRunes is a snippet's length, snippetLead the number of bytes before the first match.
const (
	snippetRunes = 160
	snippetLead  = 40
)

// found is a matching word of a text.
type found struct{ from, to, word int }

// maxFound limits the compared matches.
const maxFound = 500

// snippetOf extracts the part with most matches. FTS5 cannot: the index has no texts.
func snippetOf(text string, terms []term) Snippet {
	text = strings.Join(strings.Fields(text), " ")
	hits := findAll(text, terms)
	best, most := 0, 0
	for i := range hits {
		met := map[int]bool{}
		for j := i; j < len(hits) && hits[j].to-hits[i].from <= snippetRunes-snippetLead; j++ {
			met[hits[j].word] = true
		}
		if len(met) > most {
			best, most = i, len(met)
		}
	}
	from := 0
	if len(hits) > 0 && hits[best].from > snippetLead {
		at := hits[best].from
		from = at - snippetLead
		if space := strings.IndexByte(text[from:at], ' '); space >= 0 {
			from += space + 1
		}
		for !utf8.RuneStart(text[from]) {
			from++
		}
	}
	to := from
	for n := 0; n < snippetRunes && to < len(text); n++ {
		_, size := utf8.DecodeRuneInString(text[to:])
		to += size
	}
	var out Snippet
	if from > 0 {
		out = append(out, Piece{Text: "…"})
	}
	done := from
	for _, h := range hits {
		if h.from >= done && h.to <= to {
			out = append(out, Piece{Text: text[done:h.from]}, Piece{Text: text[h.from:h.to], Hit: true})
			done = h.to
		}
	}
	out = append(out, Piece{Text: text[done:to]})
	if to < len(text) {
		out = append(out, Piece{Text: "…"})
	}
	return out
}

func findAll(text string, terms []term) (out []found) {
	wanted := map[string]int{}
	prefix, last := "", -1
	for _, t := range terms {
		for j, w := range t.words {
			wanted[fold(w)] = len(wanted)
			if t.prefix && j == len(t.words)-1 {
				prefix, last = fold(w), wanted[fold(w)]
			}
		}
	}
	each(text, func(from, to int) bool {
		word := fold(text[from:to])
		n, ok := wanted[word]
		if !ok && last >= 0 && strings.HasPrefix(word, prefix) {
			n, ok = last, true
		}
		if ok {
			out = append(out, found{from, to, n})
		}
		return len(out) < maxFound
	})
	return out
}
