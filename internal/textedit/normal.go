package textedit

import (
	"strings"
	"unicode/utf8"
)

// normalised compares with look-alike characters folded: quotes, dashes, spaces, invisible characters, and, in the
// model's text, escapes that were written twice. Only what really differs between old and new is replaced, so the
// file's own typography stays.
func normalised(d *doc, e Edit) []Span {
	hay, at := fold(d.Text)
	for _, v := range variants(e) {
		needle, _ := fold(v.Old)
		if strings.TrimSpace(needle) == "" {
			continue
		}
		var found []Span
		for from := 0; ; {
			i := strings.Index(hay[from:], needle)
			if i < 0 {
				break
			}
			found = append(found, d.narrow(at, from+i, v))
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

// narrow replaces only the part in the middle in which old and new differ.
func (d *doc) narrow(at []int32, start int, e Edit) Span {
	head := commonPrefix(e.Old, e.New)
	tail := commonSuffix(e.Old[head:], e.New[head:])
	before, _ := fold(e.Old[:head])
	whole, _ := fold(e.Old)
	after, _ := fold(e.Old[len(e.Old)-tail:])
	s := Span{Start: int(at[start+len(before)]), End: int(at[start+len(whole)-len(after)])}
	s.End = max(s.Start, s.End)
	middle := e
	middle.New = e.New[head : len(e.New)-tail]
	s.New = d.newlines(s.Start, s.End, middle)
	return s
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

func commonSuffix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for n > 0 && !utf8.RuneStart(a[len(a)-n]) {
		n--
	}
	if n > 0 && a[len(a)-n] == '\n' {
		n--
	}
	return n
}

// fold gives s with look-alikes replaced, and for every byte of the result, and its end, where it comes from.
func fold(s string) (string, []int32) {
	var out strings.Builder
	out.Grow(len(s))
	at := make([]int32, 0, len(s)+1)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		part := s[i : i+size]
		if plain, ok := plainFor(r, s[i+size:]); ok {
			part = plain
		}
		out.WriteString(part)
		for range len(part) {
			at = append(at, int32(i))
		}
		i += size
	}
	return out.String(), append(at, int32(len(s)))
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
