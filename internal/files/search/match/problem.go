package match

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// PatternError describes an invalid pattern and the position of the problem.
type PatternError struct {
	Pattern string
	Pos     int // in characters, from 0
	Problem string
	Syntax  bool // not a valid regular expression; searching for it literally would work
}

func (e *PatternError) Error() string {
	if e.Pattern == "" {
		return "the pattern is empty; say what to look for"
	}
	if len(e.Pattern) > MaxPattern {
		return "the pattern " + e.Problem
	}
	return fmt.Sprintf("the pattern %s, at position %d, %s", quote(e.Pattern), e.Pos+1, e.Problem)
}

// quote avoids doubling backslashes, which are frequent in patterns, and cuts long patterns.
func quote(s string) string {
	const most = 300
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	if strconv.CanBackquote(s) {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

// patternError locates the regexp parser's error, which returns a fragment without its position.
func patternError(pattern string, err error) *PatternError {
	e := &PatternError{Pattern: pattern, Problem: "is not valid: " + err.Error(), Syntax: true}
	var parse *syntax.Error
	if !errors.As(err, &parse) {
		return e
	}
	e.Problem = fmt.Sprintf("is not valid: %s", parse.Code)
	at := 0
	switch parse.Code {
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen:
		at = openParen(pattern)
	default:
		e.Problem += " " + quote(parse.Expr)
		at = fragment(pattern, parse)
	}
	e.Pos = utf8.RuneCountInString(pattern[:at])
	return e
}

// fragment returns the position at which the reported fragment first breaks the pattern.
func fragment(pattern string, want *syntax.Error) int {
	for at := 0; at < len(pattern); at++ {
		if !strings.HasPrefix(pattern[at:], want.Expr) {
			continue
		}
		_, err := syntax.Parse(pattern[:at+len(want.Expr)], syntax.Perl)
		var got *syntax.Error
		if errors.As(err, &got) && got.Code == want.Code {
			return at
		}
	}
	return max(0, strings.Index(pattern, want.Expr))
}

func openParen(pattern string) int {
	var open []int
	inClass := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case inClass:
			inClass = c != ']'
		case c == '[':
			inClass = true
		case c == '(':
			open = append(open, i)
		case c == ')' && len(open) == 0:
			return i
		case c == ')':
			open = open[:len(open)-1]
		}
	}
	return append(open, 0)[0]
}

func needsBreak(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		if slices.Contains(re.Rune, '\n') {
			return true
		}
	case syntax.OpCharClass:
		return len(re.Rune) == 2 && re.Rune[0] == '\n' && re.Rune[1] == '\n'
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		if slices.ContainsFunc(re.Sub, needsBreak) {
			return true
		}
	case syntax.OpRepeat:
		return re.Min > 0 && needsBreak(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !needsBreak(sub) {
				return false
			}
		}
		return true
	}
	return false
}

// spansLines reports whether a match may contain a line break or depends on the start or end of the
// text.
func spansLines(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpBeginText, syntax.OpEndText:
		return true
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if re.Rune[i] <= '\n' && re.Rune[i+1] >= '\n' {
				return true
			}
		}
	}
	return slices.ContainsFunc(re.Sub, spansLines)
}

// breakAt returns the character position of the line break in a pattern, literal or as \n.
func breakAt(pattern string) int {
	at := strings.IndexByte(pattern, '\n')
	if at < 0 {
		at = max(0, strings.Index(pattern, `\n`))
	}
	return utf8.RuneCountInString(pattern[:at])
}
