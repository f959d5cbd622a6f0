package fulltext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxTerms bounds what is looked for at once; more of it is left out.
const maxTerms = 32

// shortestPrefix is from how many characters on the last word may be the beginning of one: those of
// three have an index of their own, and fewer are in nearly everything.
const shortestPrefix = 3

// term is a word, or several in a row, that has to be in what is found.
type term struct {
	words  []string // as the user wrote them
	prefix bool     // the last of them may go on
}

// termsOf reads what a user wrote: words, all of which are to be there, and phrases between
// quotation marks. Any text is valid. The last word may be the beginning of one, unless a space
// ends it.
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

// match is the terms as a query of FTS5 (sqlite.org/fts5.html, section 3): nothing that a user
// wrote stands outside of quotation marks, and within them there are only letters and digits.
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

// tokens are the words of a text.
func tokens(text string) (out []string) {
	each(text, func(from, to int) bool {
		out = append(out, text[from:to])
		return true
	})
	return out
}

// each calls use for every word of a text, as the index divides it, until that returns false.
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

// fold makes words alike that differ in case or in marks on letters.
func fold(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(word))
}
