// Package match finds the lines of a file that match a pattern.
//
// The one rule: the standard regexp, applied line by line, defines the result; everything else only
// rules out lines faster, and a test compares the two. Differences: classes cover Unicode
// (classes.go), and so does \b (words.go).
//
// Start reading at Compile, then Scanner.Run, which reads a file through a rolling buffer of whole
// lines. A required literal (need.go, finder.go), or else a window of byte classes or a long run of
// one class (window.go), selects candidate lines, which the automaton in dfa.go tests. Across
// lines, the automaton locates a match roughly (across.go).
//
// A line ends with "\n" or "\r\n", which is not part of it, so "^" and "$" match at its ends. Only
// for a pattern that names \r is it part of the line. In text that is not UTF-8, only ASCII can be
// matched.
//
// Known limits: a search for matches that span lines counts at most one match that begins on a
// line, and reports files above MaxMultiline as too large. Other searches do so for files with a
// line longer than MaxLine.
package match

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Query is a pattern with its options.
type Query struct {
	Pattern    string // RE2 syntax, as in package regexp
	Literal    bool   // Pattern is plain text
	IgnoreCase bool
	Word       bool // a match must not lie in a longer word (Unicode letters, digits and "_")
	Multiline  bool // a match may span lines; "^" and "$" still match at line ends
}

// Matcher is a compiled query, safe for concurrent use.
type Matcher struct {
	re        *regexp.Regexp
	prog      *syntax.Prog // shared by the dfa and the machine
	group     int          // capture group with the actual match
	need      *finder      // finds a literal or class that every match contains; may be nil
	also      *finder      // multiline: a literal that every match contains, maybe on a later line; may be nil
	plain     bool         // the pattern is a literal
	multiline bool
	once      bool        // anchored: only the start of a file can match
	bounds    bool        // has \b or \B, which regexp supports only for ASCII
	returns   bool        // the pattern names \r
	large     chan []byte // holds the shared large buffer (nil until allocated) while no scanner uses it
}

// notWord matches a character beside a whole word.
const notWord = `[^` + wordClass + `]`

// MaxPattern bounds a pattern in bytes. Compiling and matching take time for each byte, minutes for
// a megabyte.
const MaxPattern = 8 << 10

// Compile checks and prepares a query. Its error is a *PatternError.
func Compile(q Query) (*Matcher, error) {
	expr := q.Pattern
	if expr == "" {
		return nil, &PatternError{Pattern: q.Pattern, Pos: 0, Problem: "is empty"}
	}
	if len(expr) > MaxPattern {
		return nil, &PatternError{Pattern: q.Pattern, Problem: fmt.Sprintf("has %d bytes, at most %d are taken; look for a part of it", len(expr), MaxPattern)}
	}
	if q.Literal {
		expr = regexp.QuoteMeta(expr)
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, patternError(q.Pattern, err)
	}
	if !q.Multiline && needsBreak(tree) {
		return nil, &PatternError{Pattern: q.Pattern, Pos: breakAt(q.Pattern), Problem: "has a line break; set multiline to match across lines"}
	}
	m := &Matcher{large: make(chan []byte, 1), multiline: q.Multiline, once: hasOp(tree, syntax.OpBeginText)}
	m.large <- nil
	m.returns = strings.Contains(q.Pattern, "\r") || !q.Literal && escapes(q.Pattern, "r", "x0d", "x0D", "x{d}", "x{D}")
	if !q.Literal {
		expr = unicodeClasses(closed(expr))
	}
	if q.Multiline {
		// Without (?m) the tree does not distinguish "^" from \A.
		tree, _ = syntax.Parse("(?m:"+expr+")", syntax.Perl)
		m.once = hasOp(tree, syntax.OpBeginText)
		if m.multiline = spansLines(tree); m.multiline {
			endBeforeReturn(tree)
			expr = tree.String()
		}
	}
	full := wrap(expr, q)
	if m.re, err = regexp.Compile(full); err != nil {
		return nil, patternError(q.Pattern, err)
	}
	if q.Word {
		m.group = 1
	}
	inner := q
	inner.Word = false
	return m.prefilter(full, wrap(expr, inner), q.Word), nil
}

func wrap(expr string, q Query) string {
	expr = "(?:" + expr + ")"
	if q.Word {
		expr = "(?:^|" + notWord + ")(" + expr + ")(?:" + notWord + "|$)"
	}
	if q.IgnoreCase {
		expr = "(?i:" + expr + ")"
	}
	if q.Multiline {
		expr = "(?m:" + expr + ")"
	}
	return expr
}

// endBeforeReturn lets each "$" also match before "\r\n".
func endBeforeReturn(re *syntax.Regexp) {
	for _, sub := range re.Sub {
		endBeforeReturn(sub)
	}
	if re.Op == syntax.OpEndLine {
		end := *re
		re.Op, re.Sub = syntax.OpConcat, []*syntax.Regexp{{Op: syntax.OpQuest, Sub: []*syntax.Regexp{{Op: syntax.OpLiteral, Rune: []rune{'\r'}}}}, &end}
	}
}

// closed terminates an open \Q quotation so that more can follow.
func closed(expr string) string {
	if _, err := syntax.Parse("(?:"+expr+")", syntax.Perl); err != nil {
		return expr + `\E`
	}
	return expr
}

// prefilter prepares the literal search and the dfa program. inner is the expression without the
// word edges.
func (m *Matcher) prefilter(expr, inner string, word bool) *Matcher {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return m
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return m
	}
	m.bounds = hasBoundary(prog)
	m.prog = prog
	core, left, right := m.edgesOf(tree)
	if word {
		if core, err = syntax.Parse(inner, syntax.Perl); err != nil {
			return m
		}
		left, right = edgeOutside, edgeOutside
	}
	m.need = m.finder(core, left, right)
	m.plain = m.need != nil && m.need.literalIsMatch && left == edgeAny && right == edgeAny && core.Op == syntax.OpLiteral
	return m
}

// finder returns a finder for the expression, or nil if every line has to be tested.
func (m *Matcher) finder(core *syntax.Regexp, left, right edge) *finder {
	found := needOf(core, false)
	if m.multiline && found.laterLine {
		// A far literal only rules out files; lines need one on the line where a match begins.
		m.also = newFinder(found.alts)
		found = needOf(core, true)
	}
	if !m.multiline {
		// A branch that needs a line break matches no line.
		found.alts = slices.DeleteFunc(found.alts, func(l literal) bool { return strings.Contains(l.text, "\n") })
		if f := windowFinder(core, found); f != nil {
			return f
		}
	}
	if len(found.alts) == 0 {
		return nil
	}
	f := newFinder(found.alts)
	// A carriage return may belong to the line end, which is not searched.
	f.literalIsMatch = found.isMatch && !slices.ContainsFunc(found.alts, func(l literal) bool { return strings.Contains(l.text, "\r") })
	if f.left, f.right = left, right; found.repeats && (left != edgeAny || right != edgeAny) {
		f.literalIsMatch = false
	}
	return f
}

func (m *Matcher) edgesOf(tree *syntax.Regexp) (core *syntax.Regexp, left, right edge) {
	if tree.Op != syntax.OpConcat {
		return tree, edgeAny, edgeAny
	}
	subs := tree.Sub
	if left = m.edgeOf(subs[0], syntax.OpBeginLine, syntax.OpBeginText); left != edgeAny {
		subs = subs[1:]
	}
	if last := len(subs) - 1; last > 0 {
		if right = m.edgeOf(subs[last], syntax.OpEndLine, syntax.OpEndText); right != edgeAny {
			subs = subs[:last]
		}
	}
	switch {
	case len(subs) == len(tree.Sub) || len(subs) == 0:
		return tree, edgeAny, edgeAny
	case len(subs) == 1:
		return subs[0], left, right
	}
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: subs, Flags: tree.Flags}, left, right
}

// edgeOf returns the edge that re stands for; line and text are the anchors for that side. In a
// multiline search the text's end is not a line end.
func (m *Matcher) edgeOf(re *syntax.Regexp, line, text syntax.Op) edge {
	switch {
	case re.Op == syntax.OpWordBoundary:
		return edgeBoundary
	case re.Op == line, re.Op == text && !m.multiline:
		return edgeLine
	}
	return edgeAny
}

// match reports whether a line matches, without the dfa.
func (m *Matcher) match(line []byte) bool {
	if m.bounds && !isASCII(line) {
		_, _, ok := newMachine(m.prog, 0).find(line)
		return ok
	}
	return m.re.Match(line)
}

// Span returns the position of the first match in a line.
func (m *Matcher) Span(line []byte) (from, to int, ok bool) {
	if m.bounds && !isASCII(line) {
		return newMachine(m.prog, m.group).find(line)
	}
	return m.span(line)
}

// span implements Span for text in which regexp handles all boundaries.
func (m *Matcher) span(line []byte) (from, to int, ok bool) {
	if m.plain {
		from = m.need.first(line)
		return from, from + len(m.need.needles[0].text), from >= 0
	}
	at := m.re.FindSubmatchIndex(line)
	if at == nil {
		return 0, 0, false
	}
	return at[2*m.group], at[2*m.group+1], true
}

func hasOp(re *syntax.Regexp, op syntax.Op) bool {
	if re.Op == op {
		return true
	}
	for _, sub := range re.Sub {
		if hasOp(sub, op) {
			return true
		}
	}
	return false
}
