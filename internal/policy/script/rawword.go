package script

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// RawWord is one word as it stands there. Known says that Text is what the program will get.
type RawWord struct {
	Text    string
	Known   bool
	Whole   bool   // not known, but one word: it was written in double quotes
	Spelled string // as far as it can be known before it runs; $HOME is
}

// rawWord finds what a word will be, where the text alone tells.
func rawWord(w *syntax.Word) RawWord {
	out := RawWord{Known: true, Whole: true}
	var b strings.Builder
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text, sure := bare(part.Value, i == 0)
			b.WriteString(text)
			out.Known, out.Whole = out.Known && sure, out.Whole && sure
			if strings.HasSuffix(part.Value, "$") && i+1 < len(w.Parts) { // bash may see a variable there
				out.Known, out.Whole = false, false
			}
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
			out.Known = out.Known && !(part.Dollar && strings.Contains(part.Value, `\`))
		case *syntax.DblQuoted:
			text, sure := quoted(part)
			b.WriteString(text)
			out.Known = out.Known && sure
			out.Whole = out.Whole && !list(part)
		default:
			out.Known, out.Whole = false, false
		}
	}
	if inBraces(w) {
		out.Known, out.Whole = false, false
	}
	out.Text = b.String()
	return out
}

// readHere reads a here-document, in which backslashes count as in "…" unless its end was quoted.
func readHere(r *syntax.Redirect) RawWord {
	if !quotedEnd(r.Word) {
		text, known := quoted(&syntax.DblQuoted{Parts: r.Hdoc.Parts})
		return RawWord{Text: text, Known: known}
	}
	var b strings.Builder
	for _, part := range r.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return RawWord{}
		}
		b.WriteString(lit.Value)
	}
	return RawWord{Text: b.String(), Known: true}
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
func bare(s string, first bool) (text string, known bool) {
	known = !(first && strings.HasPrefix(s, "~") || strings.ContainsAny(s, "*?[") || expandable(s))
	if !strings.Contains(s, `\`) {
		return s, known
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
	return b.String(), known
}

// expandable reports what may be a brace expansion; {} is none, and find and xargs want it.
func expandable(s string) bool {
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

// spelledOut is the text of a here-document, with a space for what is known only when it runs.
func spelledOut(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			b.WriteString(lit.Value)
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// spelled is a word as far as it is known before it runs: without backslashes, and with the values
// of variables that are known.
func spelled(parts []syntax.WordPart, vars map[string]string) string {
	var b strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(part.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			b.WriteString(spelled(part.Parts, vars))
		case *syntax.ParamExp:
			if part.Param != nil {
				b.WriteString(vars[part.Param.Value])
			}
		}
	}
	return b.String()
}
