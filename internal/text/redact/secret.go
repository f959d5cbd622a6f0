// Package redact finds secrets in text and masks them: known values such as the provider's key,
// text in a published key format, and values in places where secrets occur.
//
// The one rule: everything stored or read by others passes one Masker: the session store,
// stream-json, audit output, recordings, errors, notices and tool results. Masking a second time
// changes nothing, so a log loaded and stored again keeps its bytes.
//
// Start reading at Masker.Text. known.go has the known values, shapes.go the table of kinds,
// places.go kinds found by context, scan.go the single pass, pairs.go and marked.go make it fast,
// stream.go text in pieces, leak.go outgoing text, json.go text inside JSON, files.go secret files.
//
// Known limits: the middle of a private key without its first line, a password in prose, and an
// unlisted key format look like other text. A value with fewer than eight letters is never masked:
// it would match words.
package redact

import (
	"slices"
	"strings"
)

// Mark replaces a secret.
const Mark = "[masked]"

// Note explains a mark to a model.
const Note = "(" + Mark + " stands for a secret that you are not shown; leave it as it is)"

// Masker masks secrets. The zero value knows no values, only shapes and places. It is safe for
// concurrent use.
type Masker struct {
	known *knownValues // may be nil
	plain []string     // values without encodings
}

// New returns a Masker for these values.
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
	// Longest first, since one may be a prefix of another.
	slices.SortStableFunc(all, func(a, b value) int { return len(b.text) - len(a.text) })
	m.known = newKnown(slices.CompactFunc(all, func(a, b value) bool { return a.text == b.text }))
	return m
}

// Text masks all secrets in s.
func (m *Masker) Text(s string) string { return masked(s, m.Spans(s)) }

// RedactKnown masks only known values: in a user's request, a key in a known format may be an
// example.
func (m *Masker) RedactKnown(s string) string {
	if m == nil {
		return s
	}
	return masked(s, merge(m.known.spans(s)))
}

// Span is a secret's position, [Start, End) in bytes.
type Span struct{ Start, End int }

// Spans returns the secrets in a text in order, without overlaps and without marks.
func (m *Masker) Spans(s string) []Span { return m.spans(s, 0) }

// spans returns those that begin at from or later; earlier text only decides where words begin.
func (m *Masker) spans(s string, from int) []Span {
	found, _ := m.find(s, from, true)
	return unmarked(s, found)
}

// unmarked sorts and merges spans and drops those that contain a mark.
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
