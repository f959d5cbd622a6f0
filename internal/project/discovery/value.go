package discovery

import (
	"strconv"
	"strings"
)

// value reads what stands behind a key and in the lines below it.
func (r *reader) value(text string, lines []string, depth int) Field {
	switch {
	case strings.HasPrefix(text, "|"), strings.HasPrefix(text, ">"):
		if header(text) {
			return Field{Text: scalar(text, lines)}
		}
	case text == "" || text[0] == '#':
		return r.nested(lines, depth)
	}
	if text[0] == '"' || text[0] == '\'' {
		if s, ok := quoted(folded(text, lines)); ok {
			return Field{Text: s, Quoted: true}
		}
	}
	whole := folded(text, lines)
	f := Field{Text: uncommented(whole)}
	if inner, ok := braced(f.Text, '{', '}'); ok {
		for _, part := range split(inner, false) {
			if key, value, ok := pair(part); ok {
				f.Fields = append(f.Fields, Field{Key: key, Text: bare(value)})
			}
		}
	}
	return f
}

// nested reads what is indented below a key that has nothing behind it: a list, a map, or a text.
func (r *reader) nested(lines []string, depth int) Field {
	first := ""
	for _, line := range lines {
		if !blank(line) {
			first = line
			break
		}
	}
	_, _, field := pair(strings.TrimLeft(first, " \t"))
	switch {
	case first == "":
		return Field{}
	case dashed(first):
		return Field{Items: r.dashes(lines, depth)}
	case field && depth < maxMaps:
		return Field{Fields: r.block(lines, depth+1)}
	case field:
		r.note("a map lies deeper than %d; it is left out", maxMaps)
		return Field{}
	}
	return Field{Text: folded("", lines)}
}

// dashes reads a list. An element that is a map keeps its fields.
func (r *reader) dashes(lines []string, depth int) (out []Field) {
	for len(lines) > 0 {
		line := lines[0]
		lines = lines[1:]
		if blank(line) {
			continue
		}
		if !dashed(line) {
			r.note("a line is no element of its list: %.40q", strings.TrimSpace(line))
			continue
		}
		base := indent(line)
		text := strings.TrimSpace(strings.TrimLeft(line, " \t")[1:])
		n := below(lines, base, "-")
		if _, _, isMap := pair(text); isMap && n > 0 && depth < maxMaps {
			out = append(out, Field{Fields: r.block(append([]string{strings.Repeat(" ", indent(lines[0])) + text}, lines[:n]...), depth+1)})
		} else {
			out = append(out, Field{Text: bare(folded(text, lines[:n]))})
		}
		lines = lines[n:]
	}
	return out
}

// header reports the head of a text block: | or > with how it ends and how far it is indented.
func header(text string) bool {
	rest, _, _ := strings.Cut(text[1:], "#")
	return strings.Trim(strings.TrimSpace(rest), "+-0123456789") == ""
}

// What a line of a text block is.
const (
	even   = iota // it begins where the block does
	offset        // it is set in more, and is not joined with others
	empty
)

// scalar is a text block: | keeps its lines, > joins those that are not set off. How its end is
// trimmed does not matter for what is read here: it ends without line feeds.
func scalar(head string, lines []string) string {
	least := -1
	for _, line := range lines {
		if in := indent(line); strings.TrimSpace(line) != "" && (least < 0 || in < least) {
			least = in
		}
	}
	var b strings.Builder
	fold, last := head[0] == '>', offset // what the line before was
	for n, line := range lines {
		text := strings.TrimRight(line[min(len(line), max(least, 0)):], " \t")
		now := even
		if text == "" {
			now = empty
		} else if indent(text) > 0 {
			now = offset
		}
		switch {
		case n == 0:
		case !fold || now != even || last == offset:
			b.WriteByte('\n')
		case last == even:
			b.WriteByte(' ')
		}
		b.WriteString(text)
		last = now
	}
	return strings.Trim(b.String(), "\n")
}

// folded joins a value with the lines that go on with it.
func folded(text string, lines []string) string {
	if len(lines) == 0 {
		return text
	}
	parts := []string{}
	if text != "" {
		parts = append(parts, text)
	}
	for _, line := range lines {
		if t := strings.TrimSpace(line); t != "" {
			parts = append(parts, t)
		}
	}
	return strings.Join(parts, " ")
}

// quoted is the text in quotes that a value begins with; if false, they do not end, or something
// but a comment follows, and then they belong to the text.
func quoted(text string) (string, bool) {
	q, at := text[0], 1
	for ; at < len(text); at++ {
		if q == '"' && text[at] == '\\' {
			at++
		} else if text[at] == q {
			if q == '\'' && at+1 < len(text) && text[at+1] == q {
				at++
				continue
			}
			break
		}
	}
	if at >= len(text) {
		return "", false
	}
	if rest := strings.TrimSpace(text[at+1:]); rest != "" && rest[0] != '#' {
		return "", false
	}
	if q == '\'' {
		return strings.ReplaceAll(text[1:at], "''", "'"), true
	}
	return unescaped(text[1:at]), true
}

// unescaped resolves the escapes of a text in double quotes that YAML and TOML have in common;
// another stays as written.
func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for s != "" {
		at := strings.IndexByte(s, '\\')
		if at < 0 || at+1 == len(s) {
			break
		}
		b.WriteString(s[:at])
		s = s[at:]
		n := 2
		switch c := s[1]; c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'e':
			b.WriteByte(0x1b)
		case '"', '\\', '/', ' ':
			b.WriteByte(c)
		case 'x', 'u', 'U':
			digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
			code, err := strconv.ParseUint(s[2:min(len(s), 2+digits)], 16, 32)
			if err != nil || len(s) < 2+digits {
				b.WriteString(s[:2])
				break
			}
			n = 2 + digits
			b.WriteRune(rune(code))
		default:
			b.WriteString(s[:2])
		}
		s = s[n:]
	}
	b.WriteString(s)
	return b.String()
}

// uncommented is a plain value without a comment behind it. A # within brackets is none: people
// write [issue #].
func uncommented(text string) string {
	depth := 0
	for at, c := range text {
		switch c {
		case '[', '<':
			depth++
		case ']', '>':
			depth = max(0, depth-1)
		case '#':
			open := depth > 0 && strings.ContainsAny(text[at:], "]>")
			if !open && at > 0 && (text[at-1] == ' ' || text[at-1] == '\t') && (at+1 == len(text) || text[at+1] == ' ') {
				return strings.TrimSpace(text[:at])
			}
		}
	}
	return text
}

// bare is a value without its quotes or its comment.
func bare(text string) string {
	text = strings.TrimSpace(text)
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		if s, ok := quoted(text); ok {
			return s
		}
	}
	return uncommented(text)
}
