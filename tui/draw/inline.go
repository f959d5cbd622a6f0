package draw

import (
	"strings"

	"adze/internal/safeterm"
)

// maxMark is the longest run of marks that means something.
const maxMark = 3

// unclosed remembers for which marks a search for the closing one came to the end of the line: a later
// search would too, and the line costs its length, not its square.
type unclosed map[[2]int]bool

// inline splits a line at its emphasis and code marks.
func inline(t safeterm.Text) []Span {
	s := t.String()
	if !strings.ContainsAny(s, "`*_") {
		return []Span{{Plain, t}}
	}
	var out []Span
	none := unclosed{}
	plain := 0 // where text without marks began
	for i := 0; i < len(s); {
		style, open, end := none.marked(s, i)
		if end < 0 {
			i += open
			continue
		}
		if i > plain {
			out = append(out, Span{Plain, t.Slice(plain, i)})
		}
		out = append(out, Span{style, t.Slice(i+open, end)})
		i = end + open
		plain = i
	}
	if plain < len(s) || len(out) == 0 {
		out = append(out, Span{Plain, t.Slice(plain, len(s))})
	}
	return out
}

// marked looks for a marked piece at i. Without one, end is negative and open says how far to go on; else
// the piece is s[i+open:end] and as long a mark follows it.
func (u unclosed) marked(s string, i int) (style Style, open, end int) {
	c := s[i]
	if c == '\\' && i+1 < len(s) {
		return Plain, 2, -1
	}
	if c != '`' && c != '*' && c != '_' {
		return Plain, 1, -1
	}
	n := 1
	for i+n < len(s) && s[i+n] == c {
		n++
	}
	kind := [2]int{int(c), n}
	switch {
	case n > maxMark || u[kind]:
		return Plain, n, -1
	case c == '`':
		style = Code
	case n == 1:
		style = Italic
	case n == 2:
		style = Bold
	default:
		return Plain, n, -1
	}
	if c != '`' && !opens(s, i, n) {
		return Plain, n, -1
	}
	at := closing(s, i+n, c, n)
	if at < 0 {
		u[kind] = true
		return Plain, n, -1
	}
	return style, n, at
}

// opens reports that a mark can begin emphasis: text follows at once, and an underscore is not in a word.
func opens(s string, i, n int) bool {
	return i+n < len(s) && s[i+n] != ' ' && (i == 0 || !wordByte(s[i-1]))
}

// closing finds a run of exactly n marks that ends what began before from.
func closing(s string, from int, c byte, n int) int {
	for i := from; i < len(s); {
		if s[i] != c {
			i++
			continue
		}
		k := i
		for k < len(s) && s[k] == c {
			k++
		}
		ends := c == '`' || s[i-1] != ' ' && (k == len(s) || !wordByte(s[k]))
		if k-i == n && i > from && ends {
			return i
		}
		i = k
	}
	return -1
}

func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b >= 0x80
}
