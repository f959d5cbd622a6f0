package markdown

import "strings"

type cursor struct {
	s   string // with structural tabs expanded to spaces
	pos int
	raw string // as written
}

// written returns the rest of the line with its tabs, which code needs. A tab that the cursor is
// inside becomes spaces.
func (c *cursor) written() string {
	column := 0
	for i := 0; i < len(c.raw) && column <= c.pos; i++ {
		if column == c.pos {
			return c.raw[i:]
		}
		if column++; c.raw[i] == '\t' {
			column = (column + 3) / 4 * 4
		}
	}
	return c.s[c.pos:]
}

// indent counts the spaces at the cursor; blank means nothing else follows.
func (c *cursor) indent() (n int, blank bool) {
	i := c.pos
	for i < len(c.s) && c.s[i] == ' ' {
		i++
	}
	return i - c.pos, i == len(c.s)
}

func (c *cursor) skip(n int) {
	for ; n > 0 && c.pos < len(c.s) && c.s[c.pos] == ' '; n-- {
		c.pos++
	}
}

// spaced expands tabs that can be structural to their tab stops.
func spaced(s string) string {
	end := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune(" \t>-+*0123456789.)", r) })
	if end < 0 {
		end = len(s)
	}
	if strings.IndexByte(s[:end], '\t') < 0 {
		return s
	}
	var b strings.Builder
	for i := range end {
		if s[i] != '\t' {
			b.WriteByte(s[i])
			continue
		}
		b.WriteString("    "[b.Len()%4:])
	}
	return b.String() + s[end:]
}
