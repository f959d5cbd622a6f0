package discovery

import "strings"

// braced is what stands between two brackets that hold the whole text.
func braced(text string, left, right byte) (string, bool) {
	if len(text) < 2 || text[0] != left || text[len(text)-1] != right {
		return "", false
	}
	return text[1 : len(text)-1], true
}

// List is a field as a list: with dashes, in brackets, or divided by commas or blanks, but not
// within parentheses, braces or quotes, as in Bash(git add:*) and *.{ts,tsx}. A map gives the names
// whose value is not a no.
func (f Field) List() (out []string) {
	for _, i := range f.Items {
		out = append(out, i.Text)
	}
	for _, sub := range f.Fields {
		if t := strings.ToLower(sub.Text); t != "false" && t != "no" && t != "off" {
			out = append(out, sub.Key)
		}
	}
	if len(f.Fields) > 0 || f.Text == "" {
		return out
	}
	text, inBrackets := f.Text, false
	if inner, ok := braced(text, '[', ']'); ok && !f.Quoted {
		text, inBrackets = inner, true
	}
	for _, part := range split(text, !inBrackets) {
		if part = bare(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// split divides at commas, and at blanks too where they divide, outside of brackets and quotes.
func split(text string, blanks bool) (out []string) {
	depth, from := 0, 0
	var quote byte
	cut := func(at int) {
		if part := strings.TrimSpace(text[from:at]); part != "" {
			out = append(out, part)
		}
		from = at + 1
	}
	for at := 0; at < len(text); at++ {
		switch c := text[at]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && strings.TrimSpace(text[from:at]) == "":
			quote = c
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case depth <= 0 && (c == ',' || blanks && (c == ' ' || c == '\t' || c == '\n')):
			cut(at)
		}
	}
	cut(len(text))
	return out
}

// State is whether an item is reached by its name, in a word and a reason.
func (i Item) State() (state, why string) {
	switch {
	case i.Problem != "":
		return "broken", i.Problem
	case i.By != "":
		return "shadowed", "by " + i.By
	}
	return "used", ""
}
