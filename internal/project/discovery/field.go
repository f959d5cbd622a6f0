package discovery

import (
	"slices"
	"strconv"
	"strings"
)

// Field is one field of front matter.
type Field struct {
	Key    string
	Text   string   // its value as one text; of a list or map without a text empty
	Quoted bool     // Text stood in quotes
	Items  []string // of a list that is written with dashes
	Map    bool     // its value is a map, which no field that adze knows has
}

// fieldOf reads the value of a key: the text behind it and the lines below it.
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

// nested reads what is indented below a key that has nothing behind it: a list, a map, or a text.
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

// header reports the head of a text block: | or > with how it ends and how far it is indented.
func header(text string) bool {
	rest, _, _ := strings.Cut(text[1:], "#")
	return strings.Trim(strings.TrimSpace(rest), "+-0123456789") == ""
}

// scalar is a text block: | keeps its lines, > joins them but at blank ones. It ends without line
// feeds.
func scalar(joins bool, lines []string) string {
	least := -1
	for _, line := range lines {
		if in := indent(line); strings.TrimSpace(line) != "" && (least < 0 || in < least) {
			least = in
		}
	}
	var b strings.Builder
	after := false // a blank line
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

// folded joins a value with the lines that go on with it.
func folded(text string, lines []string) string {
	for _, line := range lines {
		text = strings.TrimSpace(text + " " + strings.TrimSpace(line))
	}
	return text
}

// quoted is the text in quotes that a value is; if false, they do not end, or something but a
// comment follows, and then they belong to the text.
func quoted(text string) (string, bool) {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		return "", false
	}
	q, end := text[0], 1
	for end < len(text) && (text[end] != q || q == '\'' && strings.HasPrefix(text[end+1:], "'")) {
		if text[end] == q || q == '"' && text[end] == '\\' { // the next one is no end
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
	if s, ok := quoted(text); ok {
		return s
	}
	return uncommented(text)
}

// List is a field as a list: with dashes, in brackets, or divided by commas or blanks, but not
// within parentheses, braces or quotes, as in Bash(git add:*) and *.{ts,tsx}.
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

// split divides at commas, and at blanks too where they divide, outside of brackets and quotes.
func split(text string, blanks bool) []string {
	depth, begins := 0, true // begins: nothing but blanks stands before it in its part
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
