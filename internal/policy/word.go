package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a command. Known says that text is what the program will get; plain, that it
// was also written without anything a shell could understand in another way.
type word struct {
	text  string
	known bool
	plain bool
	whole bool // not known, but one word: it was written in double quotes
}

// readWord finds what a word will be, where the text alone tells.
func readWord(w *syntax.Word) word {
	out := word{known: true, plain: true, whole: true}
	var b, unquoted strings.Builder
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text, sure, plain := bare(part.Value, i == 0)
			b.WriteString(text)
			unquoted.WriteString(part.Value)
			out.known, out.plain = out.known && sure, out.plain && plain
			out.whole = out.whole && sure
			if strings.HasSuffix(part.Value, "$") && i+1 < len(w.Parts) { // bash may see a variable there
				out.known, out.plain, out.whole = false, false, false
			}
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
			if part.Dollar {
				out.known, out.plain = out.known && !strings.Contains(part.Value, `\`), false
			}
		case *syntax.DblQuoted:
			text, sure := quoted(part)
			b.WriteString(text)
			out.known, out.plain = out.known && sure, out.plain && sure && !part.Dollar
			out.whole = out.whole && !list(part)
		default:
			out.known, out.plain, out.whole = false, false, false
		}
	}
	if braces(unquoted.String()) { // what is quoted in {"a",b} does not change that it is two words
		out.known, out.plain, out.whole = false, false, false
	}
	out.text = b.String()
	return out
}

// readHere reads a here-document, in which backslashes count as in "…" unless its end was quoted.
func readHere(r *syntax.Redirect) word {
	literal := false
	for _, part := range r.Word.Parts {
		lit, ok := part.(*syntax.Lit)
		literal = literal || !ok || strings.Contains(lit.Value, `\`)
	}
	if !literal {
		text, known := quoted(&syntax.DblQuoted{Parts: r.Hdoc.Parts})
		return word{text: text, known: known}
	}
	var b strings.Builder
	for _, part := range r.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return word{}
		}
		b.WriteString(lit.Value)
	}
	return word{text: b.String(), known: true}
}

// list reports "$@" and "${a[@]}", which are many words in spite of their quotes.
func list(q *syntax.DblQuoted) bool {
	many := false
	syntax.Walk(q, func(n syntax.Node) bool {
		if e, ok := n.(*syntax.ParamExp); ok {
			many = many || e.Param == nil || e.Param.Value == "@" || e.Index != nil || e.Excl || e.Exp != nil
		}
		return true
	})
	return many
}

// bare reads unquoted text: a backslash takes the next character as it is; patterns, braces and a
// tilde at the start become something else.
func bare(s string, first bool) (text string, known, plain bool) {
	known, plain = true, true
	if first && strings.HasPrefix(s, "~") || strings.ContainsAny(s, "*?[") || braces(s) {
		known, plain = false, false
	}
	if !strings.Contains(s, `\`) {
		return s, known, plain
	}
	if strings.Contains(s, "$\\\n") { // bash joins the lines before it looks for variables
		known = false
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 == len(s) {
			known = false // the text ends there, and what reads it may add a line end
		} else if s[i] == '\\' {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String(), known, false
}

// braces reports what may be a brace expansion; {} is none, and find and xargs want it.
func braces(s string) bool {
	return strings.Contains(s, "{") && (strings.Contains(s, ",") || strings.Contains(s, ".."))
}

// quoted reads "…", in which a backslash counts only before $ ` " \ and the end of a line.
func quoted(q *syntax.DblQuoted) (text string, known bool) {
	var b strings.Builder
	for _, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return b.String(), false
		}
		if strings.Contains(lit.Value, "$\\\n") {
			return b.String(), false
		}
		for i := 0; i < len(lit.Value); i++ {
			if lit.Value[i] == '\\' && i+1 < len(lit.Value) && strings.IndexByte("$`\"\\\n", lit.Value[i+1]) >= 0 {
				if i++; lit.Value[i] == '\n' {
					continue
				}
			}
			b.WriteByte(lit.Value[i])
		}
	}
	return b.String(), true
}
