package markdown

import (
	"slices"
	"strconv"
	"strings"
)

type began uint8

const (
	nothing began = iota
	block
	container
)

// maxDepth bounds nested quotes and items; deeper marks are text.
const maxDepth = 32

// start looks for a block start at the cursor. The first n containers continue.
func (p *Parser) start(c *cursor, n int, at place) began {
	indent, blank := c.indent()
	if blank {
		return nothing
	}
	paragraph := p.leaf.Kind == Paragraph && (at.whole || at.lazy)
	if indent >= 4 {
		if paragraph {
			return nothing
		}
		p.interrupt(n)
		p.begin(Code)
		p.leaf.add(c.s[c.pos+4:])
		return block
	}
	s := c.s[c.pos+indent:]
	if s[0] == '>' && n < maxDepth {
		p.interrupt(n)
		p.open = append(p.open, Container{Quote: true, Fresh: true})
		c.pos += indent + 1
		c.skip(1)
		return container
	}
	if p.startLeaf(s, indent, n, at) {
		return block
	}
	return p.startItem(c, indent, n, p.leaf.Kind == Paragraph && at.whole)
}

// startLeaf begins a text block, or changes the open paragraph.
func (p *Parser) startLeaf(s string, indent, n int, at place) bool {
	under := p.leaf.Kind == Paragraph && at.whole
	switch {
	case under && underline(s) > 0:
		p.leaf.Kind, p.leaf.Level = Heading, underline(s)
		p.finish()
		return true
	case under && p.startTable(s):
		return true
	case isRule(s):
		p.single(Rule, n)
		return true
	}
	if level := headingLevel(s); level > 0 {
		p.single(Heading, n)
		h := &p.closed[len(p.closed)-1]
		h.Level, h.Text = level, []byte(headingText(s[level:]))
		return true
	}
	if f, info, ok := openFence(s); ok {
		p.interrupt(n)
		p.begin(Code)
		f.indent = indent
		p.leaf.fence, p.leaf.Info = f, info
		return true
	}
	end, ok := startHTML(s, p.leaf.Kind == Paragraph && (at.whole || at.lazy))
	if !ok {
		return false
	}
	p.interrupt(n)
	p.begin(HTML)
	p.leaf.html = end
	p.leaf.add(strings.Repeat(" ", indent) + s)
	if end.in(s) {
		p.finish()
	}
	return true
}

// single adds a block that ends with its line.
func (p *Parser) single(k Kind, n int) {
	p.interrupt(n)
	p.begin(k)
	p.finish()
}

func (p *Parser) startItem(c *cursor, indent, n int, paragraph bool) began {
	item, width := itemMark(c.s[c.pos+indent:])
	if width == 0 || n == maxDepth {
		return nothing
	}
	after := cursor{s: c.s, pos: c.pos + indent + width}
	spaces, blank := after.indent()
	// A paragraph continues with "14. is a number", so only a list that begins at 1 interrupts it.
	if paragraph && (blank || item.Number >= 0 && item.Number != 1) {
		return nothing
	}
	if blank || spaces > 4 {
		spaces = 1
	}
	item.hollow = blank
	item.indent = indent + width + spaces
	if n < len(p.open) && p.open[n].before(item) {
		item.Number = p.open[n].Number + 1
	}
	p.interrupt(n)
	p.open = append(slices.Clip(p.open), item)
	c.pos = min(after.pos+spaces, len(c.s))
	return container
}

// before reports whether c and the following item belong to the same ordered list.
func (c Container) before(item Container) bool {
	return !c.Quote && c.Number >= 0 && item.Number >= 0 && c.Delimiter == item.Delimiter
}

// itemMark parses "-" or "12." before a space or the line end.
func itemMark(s string) (item Container, width int) {
	n := 0
	for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	item = Container{Number: -1, Fresh: true}
	switch {
	case n == len(s):
		return item, 0
	case n > 0 && (s[n] == '.' || s[n] == ')'):
		item.Number, _ = strconv.Atoi(s[:n])
	case n > 0 || strings.IndexByte("-*+", s[0]) < 0:
		return item, 0
	}
	item.Delimiter = s[n]
	if n+1 < len(s) && s[n+1] != ' ' {
		return item, 0
	}
	return item, n + 1
}

func headingLevel(s string) int {
	n := 0
	for n < len(s) && s[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
}

func headingText(s string) string {
	s = strings.Trim(s, " \t")
	if end := strings.TrimRight(s, "#"); end == "" || strings.HasSuffix(end, " ") || strings.HasSuffix(end, "\t") {
		return strings.TrimRight(end, " \t")
	}
	return s
}

// underline returns the heading level for the paragraph above, or 0.
func underline(s string) int {
	s = strings.TrimRight(s, " \t")
	switch {
	case s == "":
		return 0
	case strings.Trim(s, "=") == "":
		return 1
	case strings.Trim(s, "-") == "":
		return 2
	}
	return 0
}

func isRule(s string) bool {
	mark := s[0]
	if mark != '-' && mark != '*' && mark != '_' {
		return false
	}
	n := 0
	for i := range len(s) {
		switch s[i] {
		case mark:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// fence is the line around code: mark repeated n times.
type fence struct {
	mark   byte
	n      int
	indent int
}

func openFence(s string) (f fence, info string, ok bool) {
	f.mark = s[0]
	if f.mark != '`' && f.mark != '~' {
		return f, "", false
	}
	info = strings.TrimLeft(s, s[:1])
	f.n = len(s) - len(info)
	if f.n < 3 || f.mark == '`' && strings.IndexByte(info, '`') >= 0 {
		return f, "", false
	}
	return f, strings.Trim(info, " \t"), true
}

func (f fence) closes(s string) bool {
	rest := strings.TrimLeft(s, string(f.mark))
	return len(s)-len(rest) >= f.n && strings.Trim(rest, " \t") == ""
}
