package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"unicode"

	"adze/internal/text/kern"
)

// Minimum lengths for known values.
const (
	// minValue is the shortest masked value; shorter ones would match parts of words.
	minValue = 8
	// minWords applies to values with letters only: servers that accept any key get lm-studio or
	// not-needed.
	minWords = 12
	// minEncoded is the shortest value also searched in encoded form.
	minEncoded = 16
)

// value is one spelling of a known secret.
type value struct {
	text  string
	whole bool // only as a whole word
}

// spellings returns the forms of a value: plain, escaped for JSON or a URL, and in base64 at any
// alignment.
func spellings(v string) []value {
	v = strings.TrimSpace(v)
	digits := strings.ContainsFunc(v, unicode.IsDigit)
	if len(v) < minValue || !digits && len(v) < minWords || strings.Contains(v, Mark) {
		return nil
	}
	out := []value{{v, !digits && len(v) < 2*minWords}}
	more := func(text string) {
		if text != v && len(text) >= minValue {
			out = append(out, value{text, false})
		}
	}
	quoted, _ := json.Marshal(v) // cannot fail for a string
	more(string(quoted[1 : len(quoted)-1]))
	more(url.QueryEscape(v))
	more(url.PathEscape(v))
	if len(v) < minEncoded {
		return out
	}
	for shift := range 3 {
		for _, code := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			// The first and last letters also depend on the surrounding bytes.
			text := code.EncodeToString([]byte(strings.Repeat("x", shift) + v))
			more(text[(shift*8+5)/6 : (shift+len(v))*8/6])
		}
	}
	return out
}

// knownValues indexes spellings by their first two bytes.
type knownValues struct {
	values []value
	by     map[uint16][]int
	pairs  pairTable // for all kinds and values
	quads  []kern.Quads
}

func newKnown(values []value) *knownValues {
	if len(values) == 0 {
		return nil
	}
	k := &knownValues{values: values, by: map[uint16][]int{}, pairs: kindIndex().pairs, quads: valueQuads(values)}
	for i, v := range values {
		pair := pairOf(v.text[0], v.text[1])
		k.by[pair] = append(k.by[pair], i)
		k.pairs[pair] |= pairValue
	}
	return k
}

// at appends the values found at i. A value that overlaps itself counts once.
func (k *knownValues) at(out []Span, s string, from, i int) []Span {
	if k == nil || i+1 >= len(s) || k.pairs[pairOf(s[i], s[i+1])]&pairValue == 0 {
		return out
	}
	for _, n := range k.by[pairOf(s[i], s[i+1])] {
		v := k.values[n]
		if !strings.HasPrefix(s[i:], v.text) || overlaps(s, v.text, from, i) {
			continue
		}
		if end := i + len(v.text); !v.whole || boundary(s, i) && (end == len(s) || !word(s[end])) {
			out = append(out, Span{i, end})
		}
	}
	return out
}

// overlaps reports whether a value at i starts inside another occurrence, counting from a byte on
// without overlaps.
func overlaps(s, text string, from, i int) bool {
	first := i // start of a chain of overlapping occurrences
	for at := first - 1; at >= max(from, first-len(text)+1); at-- {
		if strings.HasPrefix(s[at:], text) {
			first = at
		}
	}
	for at := first; at < i; {
		next := at + len(text)
		if i < next {
			return true
		}
		skip := strings.Index(s[next:], text)
		if skip < 0 || next+skip > i {
			return false
		}
		at = next + skip
	}
	return false
}

func (k *knownValues) spans(s string) (out []Span) {
	if k == nil {
		return nil
	}
	for i := range len(s) {
		out = k.at(out, s, 0, i)
	}
	return out
}

// beginning returns the offset from which the end of s may be the start of a known value, or
// len(s).
func (m *Masker) beginning(s string) int {
	least := len(s)
	if m == nil || m.known == nil {
		return least
	}
	for _, v := range m.known.values {
		for n := min(len(v.text)-1, len(s)); n > len(s)-least; n-- {
			if strings.HasSuffix(s, v.text[:n]) {
				least = len(s) - n
				break
			}
		}
	}
	return least
}
