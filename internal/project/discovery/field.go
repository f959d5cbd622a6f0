package discovery

import (
	"slices"
	"strconv"
	"strings"
)

// A Field is one field of front matter.
type Field struct {
	Key    string
	Text   string   // value as one text; "" for a list or map without text
	Quoted bool     // Text was quoted
	Items  []string // list with dashes
	Map    bool     // the value is a map, which adze does not use
}

// fieldOf parses a key's value: the rest of its line and the lines below.
func fieldOf(key, value string, lines []string) Field {
	f := Field{Key: key}
	if value == "" || value[0] == '#' {
		f.nested(lines)
		return f
	}
	if block := value[0] == '|' || value[0] == '>'; block && header(value) {
		f.Text = scalar(value[0] == '>', lines)
		return f
	}
	whole := folded(value, lines)
	if f.Text, f.Quoted = quoted(whole); !f.Quoted {
		f.Text = uncommented(whole)
		f.Map = strings.HasPrefix(f.Text, "{") && strings.HasSuffix(f.Text, "}")
	}
	return f
}

// nested parses the indented lines below a key without a value: a list, a map, or a text.
func (f *Field) nested(lines []string) {
	at := slices.IndexFunc(lines, func(line string) bool { return !blank(line) })
	if at < 0 {
		return
	}
	lines = lines[at:]
	if !dashed(lines[0]) {
		if _, _, f.Map = pair(strings.TrimSpace(lines[0])); !f.Map {
			f.Text = folded("", lines)
		}
		return
	}
	base := indent(lines[0])
	for len(lines) > 0 {
		first, n := lines[0], 1
		for n < len(lines) && !(dashed(lines[n]) && indent(lines[n]) <= base) {
			n++
		}
		f.Items = append(f.Items, bare(folded(strings.TrimSpace(strings.TrimSpace(first)[1:]), lines[1:n])))
		lines = lines[n:]
	}
}

// header reports whether text begins a block scalar: | or > with its indicators.
func header(text string) bool {
	rest, _, _ := strings.Cut(text[1:], "#")
	return strings.Trim(strings.TrimSpace(rest), "+-0123456789") == ""
}

// scalar returns a block scalar: | keeps its lines, > joins them except at blank ones. It has no
// final newlines.
func scalar(joins bool, lines []string) string {
	least := -1
	for _, line := range lines {
		if in := indent(line); strings.TrimSpace(line) != "" && (least < 0 || in < least) {
			least = in
		}
	}
	var b strings.Builder
	after := false // after a blank line
	for n, line := range lines {
		text := strings.TrimRight(line[min(len(line), max(least, 0)):], " \t")
		switch {
		case n == 0:
		case !joins || text == "":
			b.WriteByte('\n')
		case !after:
			b.WriteByte(' ')
		}
		b.WriteString(text)
		after = text == ""
	}
	return strings.Trim(b.String(), "\n")
}

// folded joins a value with its continuation lines.
func folded(text string, lines []string) string {
	for _, line := range lines {
		text = strings.TrimSpace(text + " " + strings.TrimSpace(line))
	}
	return text
}

// quoted unquotes a value. It returns false if the quotes do not close or are followed by more than
// a comment; then they belong to the text.
func quoted(text string) (string, bool) {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		return "", false
	}
	q, end := text[0], 1
	for end < len(text) && (text[end] != q || q == '\'' && strings.HasPrefix(text[end+1:], "'")) {
		if text[end] == q || q == '"' && text[end] == '\\' { // skip the escaped character
			end++
		}
		end++
	}
	if end >= len(text) {
		return "", false
	}
	inside, rest := text[1:end], strings.TrimSpace(text[end+1:])
	if rest != "" && rest[0] != '#' {
		return "", false
	}
	if q == '\'' {
		return strings.ReplaceAll(inside, "''", "'"), true
	}
	if s, err := strconv.Unquote(`"` + inside + `"`); err == nil {
		return s, true
	}
	return strings.ReplaceAll(inside, `\"`, `"`), true
}

// uncommented removes a comment after a plain value. A # in brackets is none: people write [issue
// #].
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

// bare returns a value without its quotes or comment.
func bare(text string) string {
	text = strings.TrimSpace(text)
	if s, ok := quoted(text); ok {
		return s
	}
	return uncommented(text)
}

// List returns the field as a list: with dashes, in brackets, or separated by commas or blanks
// outside of parentheses, braces and quotes, as in Bash(git add:*) and *.{ts,tsx}.
func (f Field) List() (out []string) {
	if f.Map || f.Text == "" {
		return f.Items
	}
	inner, bracketed := strings.CutPrefix(f.Text, "[")
	if bracketed = bracketed && !f.Quoted && strings.HasSuffix(inner, "]"); bracketed {
		f.Text = strings.TrimSuffix(inner, "]")
	}
	for _, part := range split(f.Text, !bracketed) {
		if part = bare(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// split splits at commas, and with blanks set also at blanks, outside of brackets and quotes.
func split(text string, blanks bool) []string {
	depth, begins := 0, true // begins: only blanks so far in this part
	var quote rune
	return strings.FieldsFunc(text, func(c rune) bool {
		divides := false
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && begins:
			quote = c
		case strings.ContainsRune("([{", c):
			depth++
		case strings.ContainsRune(")]}", c):
			depth--
		default:
			divides = depth <= 0 && (c == ',' || blanks && strings.ContainsRune(" \t\n", c))
		}
		begins = divides || begins && (c == ' ' || c == '\t')
		return divides
	})
}
