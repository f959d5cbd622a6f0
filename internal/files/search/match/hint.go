package match

import (
	"regexp/syntax"
	"strings"
)

// Hint suggests the intended pattern if one without matches follows another language's syntax. It
// is phrased to follow the message that nothing matched; empty means no hint.
func Hint(q Query) string {
	tree, err := syntax.Parse(q.Pattern, syntax.Perl)
	switch {
	case q.Literal || err != nil:
		return literalHint(q, err)
	case escapes(q.Pattern, "|"):
		return `; \| is a bar as it is, alternatives are parted by |`
	case escapes(q.Pattern, "<", ">"):
		return `; \< and \> are < and > as they are, the edge of a word is \b`
	case strings.Contains(q.Pattern, "&&[") || escapes(q.Pattern, "b{"):
		return `; && between brackets and \b{start} are text, as RE2 has neither`
	case !q.Multiline && (hasOp(tree, syntax.OpAnyChar) || anything(q.Pattern)):
		return `; (?s) and [\s\S] cross lines only with multiline`
	case q.Multiline && hasOp(tree, syntax.OpAnyCharNotNL) && !hasOp(tree, syntax.OpAnyChar):
		return "; . does not match a line break, also with multiline: (?s) lets it"
	case q.Multiline && escapes(q.Pattern, "n") && !escapes(q.Pattern, "r", "s"):
		return `; where lines end in \r\n, \r?\n matches both`
	case !q.Multiline && spans(tree):
		return "; a match lies within a line: with multiline and (?s), . crosses lines"
	case escapes(q.Pattern, "r"):
		return `; a line ends before its \r\n or \n, and \r is found only where a file has it: $ is the end of both`
	}
	return ""
}

// anything reports whether the pattern has a class for every character, as written in other
// languages.
func anything(pattern string) bool {
	for _, class := range []string{`[\s\S]`, `[\S\s]`, `[\w\W]`, `[\W\w]`, `[\d\D]`, `[\D\d]`, `[^]`} {
		if strings.Contains(pattern, class) {
			return true
		}
	}
	return false
}

// spans reports whether .* or .+ stands between two other parts.
func spans(tree *syntax.Regexp) bool {
	for tree.Op == syntax.OpCapture {
		tree = tree.Sub[0]
	}
	if tree.Op != syntax.OpConcat {
		return false
	}
	for _, sub := range tree.Sub[1 : len(tree.Sub)-1] {
		if (sub.Op == syntax.OpStar || sub.Op == syntax.OpPlus) && sub.Sub[0].Op == syntax.OpAnyCharNotNL {
			return true
		}
	}
	return false
}

// literalHint handles literal text that looks like an expression.
func literalHint(q Query, err error) string {
	if q.Literal && err == nil && escapes(q.Pattern, "b", "w", "s", "d", ".", "(", "[") {
		return "; literal takes the pattern as it stands, backslashes included"
	}
	return ""
}
