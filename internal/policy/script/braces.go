package script

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// braces are the words of {a,b} and {1..3}, in a word of plain characters with one pair of them.
func braces(w *syntax.Word) []*syntax.Word {
	text := w.Lit()
	before, rest, ok := strings.Cut(text, "{")
	inner, after, closed := strings.Cut(rest, "}")
	if !ok || !closed || strings.ContainsAny(before+inner+after, "{}\\$~") {
		return []*syntax.Word{w}
	}
	var items []string
	switch {
	case strings.Contains(inner, ","):
		items = strings.Split(inner, ",")
		if strings.Contains(inner, "..") {
			return []*syntax.Word{w}
		}
	default:
		items = counted(inner)
	}
	if len(items) < 2 {
		return []*syntax.Word{w}
	}
	var out []*syntax.Word
	for _, item := range items {
		if word := before + item + after; word != "" {
			out = append(out, &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{ValuePos: w.Pos(), ValueEnd: w.End(), Value: word}}})
		}
	}
	return out
}

// counted is what 1..5 stands for.
func counted(inner string) (items []string) {
	first, last, ok := strings.Cut(inner, "..")
	from, err := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if !ok || err != nil || err2 != nil || strconv.Itoa(from) != first || strconv.Itoa(to) != last || max(from-to, to-from) > maxAlternatives {
		return nil
	}
	step := 1
	if to < from {
		step = -1
	}
	for i := from; i != to+step; i += step {
		items = append(items, strconv.Itoa(i))
	}
	return items
}

// inBraces reports what may become several words, also where parts of it are quoted.
func inBraces(w *syntax.Word) bool {
	unquoted := ""
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			unquoted += lit.Value
		}
	}
	return expandable(unquoted)
}
