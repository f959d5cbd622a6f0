package markdown

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Remarks are the program's own words inside a model's text. In the source, a noncharacter marks
// their position; input text cannot contain it, so no model can forge a remark.
const (
	firstRemark = 0xFDD0
	lastRemark  = 0xFDEF
)

func isRemark(r rune) bool { return r >= firstRemark && r <= lastRemark }

// Remarked inserts a remark position after each quote in a text and reports which were placed;
// ambiguous quotes are not. A quote has the text's words without its marks.
func Remarked(text string, quotes []string) (out string, placed []bool) {
	text = strings.Map(func(r rune) rune {
		if isRemark(r) {
			return -1
		}
		return r
	}, text)
	words := wordsOf(text)
	at := make([]int, len(quotes)) // insertion offset for each
	placed = make([]bool, len(quotes))
	for i, q := range quotes {
		same := 0 // earlier quotes with the same words
		total := 0
		key := texts(wordsOf(q))
		for j, other := range quotes {
			if slices.Equal(texts(wordsOf(other)), key) {
				total++
				if j < i {
					same++
				}
			}
		}
		ends := find(words, key)
		if len(ends) == 1 {
			total, same = 1, 0 // all remarks on a sentence go here
		}
		if i > lastRemark-firstRemark || len(ends) != total || strings.Contains(q, "…") {
			continue
		}
		at[i], placed[i] = behind(text, ends[same]), true
	}
	order := make([]int, 0, len(quotes))
	for i := range quotes {
		if placed[i] {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return at[a] - at[b] })
	var b strings.Builder
	from := 0
	for _, i := range order {
		b.WriteString(text[from:at[i]])
		from = at[i]
		b.WriteString(" " + string(rune(firstRemark+i)))
		if next, _ := utf8.DecodeRuneInString(text[from:]); unicode.IsLetter(next) || unicode.IsDigit(next) {
			b.WriteByte(' ')
		}
	}
	b.WriteString(text[from:])
	return b.String(), placed
}

type textWord struct {
	text string
	end  int
}

func wordsOf(text string) (out []textWord) {
	begin := -1
	for i, r := range text {
		switch in := unicode.IsLetter(r) || unicode.IsDigit(r); {
		case in && begin < 0:
			begin = i
		case !in && begin >= 0:
			out, begin = append(out, textWord{text[begin:i], i}), -1
		}
	}
	if begin >= 0 {
		out = append(out, textWord{text[begin:], len(text)})
	}
	return out
}

func texts(words []textWord) (out []string) {
	for _, w := range words {
		out = append(out, w.text)
	}
	return out
}

// find returns the end offset of each occurrence of key in words.
func find(words []textWord, key []string) (ends []int) {
	for i := 0; len(key) > 0 && i+len(key) <= len(words); i++ {
		if slices.EqualFunc(words[i:i+len(key)], key, func(w textWord, k string) bool { return w.text == k }) {
			ends = append(ends, words[i+len(key)-1].end)
		}
	}
	return ends
}

// behind returns the offset after a word and its closing marks: code, emphasis, link, sentence.
func behind(text string, at int) int {
	line := text[strings.LastIndexByte(text[:at], '\n')+1 : at]
	if strings.Count(line, "`")%2 == 1 {
		if end := strings.IndexAny(text[at:], "`\n"); end >= 0 && text[at+end] == '`' {
			at += end + 1
		}
	}
	for at < len(text) {
		rest := text[at:]
		if link := strings.HasPrefix(rest, "]("); link && strings.IndexByte(rest, ')') > 0 {
			at += strings.IndexByte(rest, ')') + 1
			continue
		}
		r, n := utf8.DecodeRuneInString(rest)
		if !strings.ContainsRune("`*_~]\"'”’.!?)", r) {
			break
		}
		at += n
	}
	return at
}

// Remarks splits remark positions from the surrounding text.
func Remarks(spans []Span) []Span {
	if !slices.ContainsFunc(spans, func(s Span) bool { return strings.ContainsFunc(s.Text, isRemark) }) {
		return spans
	}
	var out []Span
	for _, s := range spans {
		for {
			i := strings.IndexFunc(s.Text, isRemark)
			if i < 0 {
				break
			}
			if i > 0 {
				before := s
				before.Text = s.Text[:i]
				out = append(out, before)
			}
			r, n := utf8.DecodeRuneInString(s.Text[i:])
			at := s.Offset
			if s.Exact {
				at += i
			}
			out = append(out, Span{Remark: int(r-firstRemark) + 1, Offset: at})
			s.Text = s.Text[i+n:]
			if s.Exact {
				s.Offset += i + n
			}
		}
		if s.Text != "" {
			out = append(out, s)
		}
	}
	return out
}

// Signless removes the signs that begin remarks from a model's text: readers would take ✓ or ✗
// after a sentence for a remark.
func Signless(text string) string {
	if !strings.Contains(text, "\xe2\x9c") && !strings.Contains(text, "\xe2\x98") && !strings.Contains(text, "\xf0\x9f\x97") {
		return text
	}
	return signs().Replace(text)
}

var signs = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for _, s := range []struct{ of, by string }{{"✓✔☑🗸🗹", "[x]"}, {"✗✘☒🗴🗵", "[ ]"}} {
		for _, r := range s.of {
			pairs = append(pairs, string(r)+"\ufe0f", s.by, string(r)+"\ufe0e", s.by, string(r), s.by)
		}
	}
	return strings.NewReplacer(pairs...)
})
