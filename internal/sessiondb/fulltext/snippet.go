package fulltext

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Snippet is a piece of a text around what was looked for, on one line.
type Snippet []Piece

// Piece is a part of a snippet.
type Piece struct {
	Text string
	Hit  bool // it was looked for
}

// String is the whole.
func (s Snippet) String() string {
	var b strings.Builder
	for _, p := range s {
		b.WriteString(p.Text)
	}
	return b.String()
}

// MarshalJSON writes the text alone.
func (s Snippet) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// snippetRunes is how long a snippet is, snippetLead how much of it stands before the first word
// that was found.
const (
	snippetRunes = 160
	snippetLead  = 40
)

// found is a word of a text that was looked for.
type found struct{ from, to, term int }

// snippetOf cuts out where most of the words stand together. FTS5 cannot: the index has no texts.
func snippetOf(text string, terms []term) Snippet {
	hits := findAll(text, terms)
	if len(hits) == 0 {
		return around(text, nil, 0)
	}
	best, most := 0, 0
	for i := range hits {
		met, n := map[int]bool{}, 0
		for j := i; j < len(hits) && hits[j].to-hits[i].from <= snippetRunes-snippetLead; j++ {
			if !met[hits[j].term] {
				met[hits[j].term] = true
				n++
			}
		}
		if n > most {
			best, most = i, n
		}
	}
	return around(text, hits, best)
}

// maxFound bounds how many places are compared.
const maxFound = 500

func findAll(text string, terms []term) (out []found) {
	wanted := map[string]int{}
	var prefix string
	last := -1
	for i, t := range terms {
		for j, w := range t.words {
			wanted[fold(w)] = i*1000 + j
			if t.prefix && j == len(t.words)-1 {
				prefix, last = fold(w), i*1000+j
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

// around cuts the text around one of the hits, and marks all that are in it.
func around(text string, hits []found, at int) Snippet {
	from := 0
	if len(hits) > 0 {
		from = back(text, hits[at].from, snippetLead)
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
		if h.from < done || h.to > to {
			continue
		}
		out = append(out, Piece{Text: text[done:h.from]}, Piece{Text: text[h.from:h.to], Hit: true})
		done = h.to
	}
	out = append(out, Piece{Text: text[done:to]})
	if to < len(text) {
		out = append(out, Piece{Text: "…"})
	}
	return out.line()
}

// back goes n characters back from a place, to the beginning of a word.
func back(text string, at, n int) int {
	from := at
	for ; n > 0 && from > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	if from == 0 {
		return 0
	}
	if space := strings.IndexFunc(text[from:at], unicode.IsSpace); space >= 0 {
		return from + space
	}
	return from
}

// line puts a snippet on one line: white space is one space, and there is none at its ends.
func (s Snippet) line() Snippet {
	var out Snippet
	space := true // nothing stands before
	for _, p := range s {
		var b strings.Builder
		for _, r := range p.Text {
			if unicode.IsSpace(r) {
				if !space {
					b.WriteByte(' ')
				}
				space = true
				continue
			}
			b.WriteRune(r)
			space = false
		}
		if b.Len() > 0 {
			out = append(out, Piece{b.String(), p.Hit})
		}
	}
	if n := len(out) - 1; n >= 0 {
		out[n].Text = strings.TrimRight(out[n].Text, " ")
	}
	return out
}
