package textedit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"adze/internal/text"
)

// normalised compares with look-alike characters folded: quotes, dashes, spaces, invisible
// characters, characters that Unicode composes or not, and, in the model's text, escapes that were
// written twice. Only what really differs between old and new is replaced, so the file's own
// typography stays.
func normalised(d *doc, e Edit) ([]Span, error) { return folded(d, e, fold), nil }

// spaced takes white space inside a line for one space as well.
func spaced(d *doc, e Edit) ([]Span, error) { return folded(d, e, foldSpaces), nil }

// folder rewrites a text from left to right, and gives for every byte of the result, and its end,
// where it comes from.
type folder func(string) (string, []int32)

func folded(d *doc, e Edit, f folder) []Span {
	if best, _ := d.places(blockOf(e.Old), similarNear); best != nil && d.fit(blockOf(e.Old), *best).whole() {
		return nil // whole lines are merged one by one
	}
	hay, at := f(d.Text)
	for _, v := range variants(e) {
		needle, _ := f(v.Old)
		if strings.TrimSpace(needle) == "" {
			continue
		}
		var found []Span
		for from := 0; ; {
			i := strings.Index(hay[from:], needle)
			if i < 0 {
				break
			}
			if s, ok := d.narrow(at, from+i, v, f); ok && !d.cutsWord(s, e) && !d.cutsLetters(s, e) {
				found = append(found, s)
			}
			from += i + 1
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// variants are the readings of an edit, the literal one first.
func variants(e Edit) []Edit {
	out := []Edit{e}
	for _, r := range []*strings.Replacer{
		strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "", `\"`, `"`, `\'`, `'`, "\\`", "`", `\\`, `\`, `\$`, `$`),
		strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'", "&apos;", "'", "&amp;", "&"),
	} {
		if old := r.Replace(e.Old); old != e.Old {
			out = append(out, Edit{Old: old, New: r.Replace(e.New)})
		}
	}
	return out
}

// narrow applies the change of old to new to what the file has instead of old. Both ends lie
// between characters of the file; where folding made several of one, that is all of it.
func (d *doc) narrow(at []int32, start int, e Edit, f folder) (Span, bool) {
	plain, _ := f(e.Old)
	end := start + len(plain)
	if start > 0 && at[start] == at[start-1] || at[end] == at[end-1] {
		return Span{}, false
	}
	s := Span{Start: int(at[start]), End: int(at[end])}
	have := d.Text[s.Start:s.End]
	if r, _ := utf8.DecodeRuneInString(d.Text[s.End:]); unicode.IsMark(r) {
		return s, false
	}
	unix := func(s string) string { return text.WithNewlines(s, "\n") }
	next, ok := mergeWords(unix(e.Old), unix(have), unix(d.inForm(e.New)))
	s.New = text.WithNewlines(next, d.newlineNear(s.Start, s.End))
	return s, ok
}

// inForm writes composed characters as the file does, where it has one form only.
func (d *doc) inForm(s string) string {
	if ascii(s) {
		return s
	}
	composed, apart := norm.NFC.IsNormalString(d.Text), norm.NFD.IsNormalString(d.Text)
	switch {
	case composed && !apart:
		return norm.NFC.String(s)
	case apart && !composed:
		return norm.NFD.String(s)
	}
	return s
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && (n < len(a) && !utf8.RuneStart(a[n]) || n < len(b) && !utf8.RuneStart(b[n])) {
		n--
	}
	if n > 0 && a[n-1] == '\r' { // a line end stays whole
		n--
	}
	return n
}

// fold replaces look-alikes.
func fold(s string) (string, []int32) {
	var out strings.Builder
	out.Grow(len(s))
	at := make([]int32, 0, len(s)+1)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		part := s[i : i+size]
		if plain, ok := plainFor(r, s[i+size:]); ok {
			part = plain
		} else if r >= 0xc0 && size > 1 {
			part = norm.NFD.String(part)
		}
		out.WriteString(part)
		for range len(part) {
			at = append(at, int32(i))
		}
		i += size
	}
	return out.String(), append(at, int32(len(s)))
}

// foldSpaces is fold with every stretch of white space inside a line as one space. Indentation
// stays as it is.
func foldSpaces(s string) (string, []int32) {
	plain, from := fold(s)
	out := make([]byte, 0, len(plain))
	at := make([]int32, 0, len(from))
	margin, gap := true, false
	for i := range len(plain) {
		c := plain[i]
		space := c == ' ' || c == '\t'
		margin = c == '\n' || margin && space
		if !space || margin || !gap {
			if space && !margin {
				c = ' '
			}
			out, at = append(out, c), append(at, from[i])
		}
		gap = space && !margin
	}
	return string(out), append(at, from[len(plain)])
}

// plainFor is the ASCII spelling of a character, if it has one that models use instead.
func plainFor(r rune, rest string) (string, bool) {
	switch r {
	case '\u2018', '\u2019', '\u201a', '\u201b', '\u2032', '\u00b4':
		return "'", true
	case '\u201c', '\u201d', '\u201e', '\u201f', '\u2033', '\u00ab', '\u00bb':
		return `"`, true
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2015', '\u2212':
		return "-", true
	case '\u00a0', '\u2002', '\u2003', '\u2004', '\u2005', '\u2006', '\u2007', '\u2008', '\u2009', '\u200a', '\u202f', '\u205f', '\u3000':
		return " ", true
	case '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u00ad':
		return "", true
	case '\u2026':
		return "...", true
	case '\r':
		if strings.HasPrefix(rest, "\n") {
			return "", true
		}
		return "\n", true
	}
	return "", false
}
