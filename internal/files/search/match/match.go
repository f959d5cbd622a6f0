// Package match finds the lines of a file that match a pattern.
//
// The one rule: the standard regexp, applied to one line after another, says what is right; all
// else here only finds out sooner that a line cannot match. A test compares the two. Its classes
// are widened to Unicode (classes.go), and \b beyond ASCII is for words.go, which regexp has no
// word about.
//
// Start reading at Compile, then Scanner.Run, which reads a file through a rolling buffer of whole
// lines: a needed literal (need.go, finder.go) names candidate lines, and only those are tested, by
// the automaton in dfa.go. Where no literal is rare enough, a window of byte classes or a long run
// of one does (window.go). Package kern finds them, with vector instructions where the processor
// has them. Across lines the automaton tells about where a match lies (across.go).
//
// A line ends with "\n" or "\r\n"; neither is part of it, so "^" and "$" are the ends of a line.
// Only for a pattern that names \r itself is it part of the line, too. Bytes are matched as they
// are: in text that is not UTF-8 only its ASCII part can be named.
//
// Known limits: a multiline search whose matches may have a line break counts at most one match
// that begins on a line and takes files up to MaxMultiline, beyond which the file is reported as
// too large, as is one with a line longer than MaxLine.
package match

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Query is what to look for.
type Query struct {
	Pattern    string // RE2 syntax, as in package regexp
	Literal    bool   // Pattern is plain text
	IgnoreCase bool
	Word       bool // a match is not part of a longer word, by Unicode letters, digits and "_"
	Multiline  bool // a match may span lines; "^" and "$" stay the ends of lines
}

// Matcher is a compiled query, safe for concurrent use.
type Matcher struct {
	re        *regexp.Regexp
	prog      *syntax.Prog // the same for the dfa and the machine
	group     int          // the group that is the match proper
	need      *finder      // what every match contains; nil when nothing is known
	also      *finder      // multiline: something else that every match contains, maybe on a later line; if nil, nothing
	plain     bool         // containing it is matching, and it is all there is to a match
	multiline bool
	once      bool        // anchored to the start of the text: only a file's start can match
	bounds    bool        // it has \b or \B, which regexp knows of ASCII alone
	returns   bool        // it names \r
	large     chan []byte // holds the large buffer, or nil before there is one, while no scanner has it
}

// notWord is what may stand beside a whole word.
const notWord = `[^` + wordClass + `]`

// MaxPattern bounds a pattern in bytes. Compiling and matching cost time for each byte of it, a
// megabyte takes minutes, and nobody looks for a text of that length.
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
	m := &Matcher{large: make(chan []byte, 1), multiline: q.Multiline, once: has(tree, syntax.OpBeginText)}
	m.large <- nil
	m.returns = strings.Contains(q.Pattern, "\r") || !q.Literal && escapes(q.Pattern, "r", "x0d", "x0D", "x{d}", "x{D}")
	if !q.Literal {
		expr = unicodeClasses(closed(expr))
	}
	if q.Multiline {
		// Whether "^" was written or \A, the tree does not tell without (?m).
		tree, _ = syntax.Parse("(?m:"+expr+")", syntax.Perl)
		m.once = has(tree, syntax.OpBeginText)
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

// wrap adds the options of q to an expression that is valid by itself.
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

// endBeforeReturn lets each "$" of an expression also match before "\r\n".
func endBeforeReturn(re *syntax.Regexp) {
	for _, sub := range re.Sub {
		endBeforeReturn(sub)
	}
	if re.Op == syntax.OpEndLine {
		end := *re
		re.Op, re.Sub = syntax.OpConcat, []*syntax.Regexp{{Op: syntax.OpQuest, Sub: []*syntax.Regexp{{Op: syntax.OpLiteral, Rune: []rune{'\r'}}}}, &end}
	}
}

// closed ends a quotation (\Q) that goes on to the end of a pattern, so that something else can
// follow it.
func closed(expr string) string {
	if _, err := syntax.Parse("(?:"+expr+")", syntax.Perl); err != nil {
		return expr + `\E`
	}
	return expr
}

// prefilter prepares what decides about lines before regexp has to: what every match of the
// expression contains, and the program of the dfa. inner is the expression without the edges of a
// whole word.
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
	m.plain = m.need != nil && m.need.whole && left == edgeAny && right == edgeAny && core.Op == syntax.OpLiteral
	return m
}

// finder decides what to look for; nil where only the lines themselves tell.
func (m *Matcher) finder(core *syntax.Regexp, left, right edge) *finder {
	found := needOf(core, false)
	if m.multiline && found.far {
		// It tells which files hold no match; which lines, only what lies on the line where a match
		// begins.
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
	// A carriage return may belong to the line's end, which is not searched.
	f.whole = found.whole && !slices.ContainsFunc(found.alts, func(l literal) bool { return strings.Contains(l.text, "\r") })
	if f.left, f.right = left, right; found.repeats && (left != edgeAny || right != edgeAny) {
		f.whole = false
	}
	return f
}

// edgesOf takes \b, and what stands for an end of the line, off both ends of an expression.
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

// edgeOf is what an expression says of what is beside it, where line and text stand for an end on
// that side. Across lines the end of the text is not that of a line.
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

// Span returns where the first match of a line lies.
func (m *Matcher) Span(line []byte) (from, to int, ok bool) {
	if m.bounds && !isASCII(line) {
		return newMachine(m.prog, m.group).find(line)
	}
	return m.span(line)
}

// span is Span of a text in which regexp knows all boundaries.
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

// has reports whether an operator occurs in a tree.
func has(re *syntax.Regexp, op syntax.Op) bool {
	if re.Op == op {
		return true
	}
	for _, sub := range re.Sub {
		if has(sub, op) {
			return true
		}
	}
	return false
}
