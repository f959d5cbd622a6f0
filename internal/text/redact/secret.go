// Package redact finds secrets in text and puts a mark in their place: values that are known, such
// as the provider's key, what has the shape of a published kind of key, and what stands where keys
// stand.
//
// The one rule: what is written to last, or for others to read, goes through one Masker: the
// session store, stream-json, what audit shows, recordings, errors and notices, and what calls give
// the model. What is masked stays masked, and masking it again changes nothing, so that a log that
// is loaded and stored again keeps its bytes.
//
// Start reading at Masker.Text. known.go has the values, shapes.go the table of kinds, places.go
// what goes by its place, scan.go the one pass over a text, pairs.go the table that makes it fast,
// marked.go the vector kernels that do the same for longer texts, stream.go text that comes in
// pieces, leak.go what may not leave the machine, json.go text inside JSON, files.go the files that
// are known for their secrets and what of them is one.
//
// Known limits: the middle of a private key without its first line, a password in prose, and a key
// of a kind that is not in the table look like other text. A value of fewer than eight letters is
// masked nowhere: it would hit words.
package redact

import (
	"slices"
	"strings"
)

// Mark stands where a secret was.
const Mark = "[masked]"

// Note tells a model what a mark is.
const Note = "(" + Mark + " stands for a secret that you are not shown; leave it as it is)"

// Masker masks. The zero value knows no value, only shapes and places. It is safe for concurrent
// use.
type Masker struct {
	known *knownValues // nil when there is none
	plain []string     // the values as they are
}

// New makes a Masker that knows these values.
func New(values ...string) *Masker {
	m := &Masker{}
	var all []value
	for _, v := range values {
		ways := spellings(v)
		if len(ways) > 0 && !slices.Contains(m.plain, ways[0].text) {
			m.plain = append(m.plain, ways[0].text)
		}
		all = append(all, ways...)
	}
	// The longest first: one may be the beginning of another.
	slices.SortStableFunc(all, func(a, b value) int { return len(b.text) - len(a.text) })
	m.known = newKnown(slices.CompactFunc(all, func(a, b value) bool { return a.text == b.text }))
	return m
}

// Text masks all secrets of a text.
func (m *Masker) Text(s string) string { return masked(s, m.Spans(s)) }

// Known masks only the values that are known: in what a user asked for, a key of a known shape may
// be an example.
func (m *Masker) Known(s string) string {
	if m == nil {
		return s
	}
	return masked(s, merge(m.known.spans(s)))
}

// Span is where a secret stands: the byte of its beginning, and the one after its end.
type Span struct{ Start, End int }

// Spans are the secrets of a text, in order; they do not overlap, and none is a mark.
func (m *Masker) Spans(s string) []Span { return m.spans(s, 0) }

// spans are those that begin at from or behind; what stands before it only tells where words begin.
func (m *Masker) spans(s string, from int) []Span {
	found, _ := m.find(s, from, true)
	return unmarked(s, found)
}

// unmarked sorts and joins what was found, without what holds a mark.
func unmarked(s string, found []Span) []Span {
	return slices.DeleteFunc(merge(found), func(x Span) bool { return strings.Contains(s[x.Start:x.End], Mark) })
}

func masked(s string, spans []Span) string {
	if len(spans) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, x := range spans {
		b.WriteString(s[at:x.Start])
		b.WriteString(Mark)
		at = x.End
	}
	b.WriteString(s[at:])
	return b.String()
}

// merge sorts spans and joins those that overlap.
func merge(all []Span) []Span {
	if len(all) < 2 {
		return all
	}
	slices.SortFunc(all, func(a, b Span) int { return a.Start - b.Start })
	out := all[:1]
	for _, x := range all[1:] {
		if last := &out[len(out)-1]; x.Start < last.End {
			last.End = max(last.End, x.End)
			continue
		}
		out = append(out, x)
	}
	return out
}
