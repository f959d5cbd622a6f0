package secret

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"unicode"
)

// Bounds of a value that is masked where it stands.
const (
	// minValue is the shortest; a shorter one would hit parts of words.
	minValue = 8
	// minWords is the shortest of letters alone: lm-studio and not-needed are given to servers that
	// want any key.
	minWords = 12
	// minEncoded is the shortest whose encodings are looked for, too.
	minEncoded = 16
)

// value is one spelling of a known secret.
type value struct {
	text  string
	whole bool // only as a word of its own
}

// spellings are the ways in which a value is written: as it is, inside JSON or an address, or in
// base64 behind any other text.
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
	quoted, _ := json.Marshal(v) // a string always encodes
	more(string(quoted[1 : len(quoted)-1]))
	more(url.QueryEscape(v))
	more(url.PathEscape(v))
	if len(v) < minEncoded {
		return out
	}
	for shift := range 3 {
		for _, code := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			// The first and the last letters also depend on what stands around the value.
			text := code.EncodeToString([]byte(strings.Repeat("x", shift) + v))
			more(text[(shift*8+5)/6 : (shift+len(v))*8/6])
		}
	}
	return out
}

// known appends where known values stand.
func (m *Masker) known(out []Span, s string, from int) []Span {
	if m == nil {
		return out
	}
	for _, v := range m.values {
		for at := from; ; {
			i := strings.Index(s[at:], v.text)
			if i < 0 {
				break
			}
			start, end := at+i, at+i+len(v.text)
			at = end
			if !v.whole || (boundary(s, start) && (end == len(s) || !word(s[end]))) {
				out = append(out, Span{start, end})
			}
		}
	}
	return out
}

// beginning is where the last part of s begins that may be the beginning of a known value; len(s):
// nowhere.
func (m *Masker) beginning(s string) int {
	least := len(s)
	if m == nil {
		return least
	}
	for _, v := range m.values {
		for n := min(len(v.text)-1, len(s)); n > len(s)-least; n-- {
			if strings.HasSuffix(s, v.text[:n]) {
				least = len(s) - n
				break
			}
		}
	}
	return least
}
