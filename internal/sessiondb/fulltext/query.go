package fulltext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxTerms limits a query's terms; the rest is ignored.
const maxTerms = 32

// shortestPrefix is the length from which the last word may be a prefix: three characters have an
// index of their own, and fewer match nearly everything.
const shortestPrefix = 3

// term is a required word or phrase.
type term struct {
	words  []string // as written
	prefix bool     // the last one is a prefix
}

// termsOf parses a query: words, all required, and phrases in quotation marks. Any text is valid.
// The last word may be a prefix unless a space follows.
func termsOf(text string) (out []term) {
	text = strings.ToValidUTF8(text, " ")
	pieces := strings.Split(text, `"`)
	for i, piece := range pieces {
		if i%2 == 1 && i < len(pieces)-1 { // between two marks
			if words := tokens(piece); len(words) > 0 {
				out = append(out, term{words: words})
			}
			continue
		}
		for word := range strings.FieldsSeq(piece) {
			if words := tokens(word); len(words) > 0 {
				out = append(out, term{words: words})
			}
		}
	}
	last := []rune(text)
	if n := len(last) - 1; n >= 0 && len(out) > 0 && inWord(last[n]) {
		words := out[len(out)-1].words
		out[len(out)-1].prefix = utf8.RuneCountInString(words[len(words)-1]) >= shortestPrefix
	}
	return out[:min(len(out), maxTerms)]
}

// match returns an FTS5 query (sqlite.org/fts5.html, section 3). The user's words are all in
// quotation marks and consist of letters and digits.
func match(terms []term) string {
	var parts []string
	for _, t := range terms {
		part := `"` + strings.Join(t.words, " ") + `"`
		if t.prefix {
			part += " *"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " AND ")
}

func tokens(text string) (out []string) {
	each(text, func(from, to int) bool {
		out = append(out, text[from:to])
		return true
	})
	return out
}

// each calls use for every word of a text, split like the index, until use returns false.
func each(text string, use func(from, to int) bool) {
	from := -1
	for i, r := range text {
		alone := unspaced(r) && inWord(r)
		in := inWord(r) || from >= 0 && unicode.Is(unicode.Mn, r)
		if from >= 0 && (!in || alone) {
			if !use(from, i) {
				return
			}
			from = -1
		}
		if alone {
			if !use(i, i+len(string(r))) {
				return
			}
			continue
		}
		if in && from < 0 {
			from = i
		}
	}
	if from >= 0 {
		use(from, len(text))
	}
}

// fold removes case and diacritics.
func fold(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(word))
}
