package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// argvMatcher matches a command word by word.
type argvMatcher struct {
	tokens  []token
	anyRest bool // ends with **
}

// token matches any word, or one of the given ones.
type token struct {
	any   bool
	oneOf []string
}

func compileArgv(matcher string) (argvMatcher, error) {
	var m argvMatcher
	if strings.ContainsAny(matcher, "\n\r") {
		return m, errors.New("a matcher is about one command and stands in one line")
	}
	words, err := splitMatcher(matcher)
	if err != nil {
		return m, err
	}
	if matcher == "" {
		words = []mword{{text: "**"}}
	}
	for i, w := range words {
		switch {
		case w.quoted:
			m.tokens = append(m.tokens, token{oneOf: []string{w.text}})
		case w.text == "**" && i == len(words)-1:
			m.anyRest = true
		case w.text == "**":
			return m, errors.New("** stands for the rest and comes last")
		case w.text == "*":
			m.tokens = append(m.tokens, token{any: true})
		case strings.HasPrefix(w.text, "{") && strings.HasSuffix(w.text, "}"):
			m.tokens = append(m.tokens, token{oneOf: strings.Split(w.text[1:len(w.text)-1], ",")})
		case strings.ContainsAny(w.text, "*{}?[]$`\\;&|<>()"):
			return m, fmt.Errorf("%q: a word is literal, {a,b}, * for one word or ** for the rest; put quotes around other characters", w.text)
		default:
			m.tokens = append(m.tokens, token{oneOf: []string{w.text}})
		}
	}
	return m, nil
}

// mword is a matcher's word. A quoted one is literal.
type mword struct {
	text   string
	quoted bool
}

// splitMatcher splits at spaces outside '…' and "…".
func splitMatcher(s string) ([]mword, error) {
	var out []mword
	var b strings.Builder
	var open rune
	begun, quoted := false, false
	end := func() {
		if begun {
			out = append(out, mword{b.String(), quoted})
		}
		b.Reset()
		begun, quoted = false, false
	}
	for _, r := range s {
		switch {
		case open != 0 && r == open:
			open = 0
		case open != 0:
			b.WriteRune(r)
		case r == '\'' || r == '"':
			open, begun, quoted = r, true, true
		case r == ' ' || r == '\t':
			end()
		default:
			begun = true
			b.WriteRune(r)
		}
	}
	if open != 0 {
		return nil, fmt.Errorf("a quote %c is not closed", open)
	}
	end()
	return out, nil
}

// quoteWord is the inverse of splitMatcher for one word.
func quoteWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"*{}?[]$`\\;&|<>()") {
		return s
	}
	if !strings.Contains(s, "'") {
		return "'" + s + "'"
	}
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}

// certainty rates a match; words known only at run time make it possible.
type certainty int

const (
	no certainty = iota
	possible
	sure
)

// forbids matches for deny and ask, where doubt counts: a program also matches by its base name,
// options may precede a subcommand, and an unknown word may be anything.
func (m argvMatcher) forbids(s simple) certainty {
	at := position{m: m, s: s}
	c := at.match(0, 0)
	if s.maybe {
		c = min(c, possible)
	}
	return c
}

func (t token) takes(text string) bool { return t.any || slices.Contains(t.oneOf, text) }

// position is a matcher's state within a command.
type position struct {
	m argvMatcher
	s simple
}

// match compares the tokens from ti with the words from wi. An unknown word may stand for none or
// many, so everything after it is possible; in a text that may be no command at all it matches
// nothing.
func (p position) match(ti, wi int) certainty {
	words, tokens := p.s.words, p.m.tokens
	doubt := possible
	if p.s.maybe {
		doubt = no
	}
	switch {
	case ti == len(tokens) && (wi == len(words) || p.m.anyRest):
		return sure
	case wi == len(words):
		return no
	case !words[wi].Known:
		return doubt
	case ti == len(tokens):
		return no
	}
	best := no
	if t := tokens[ti]; t.takes(words[wi].Text) || wi == 0 && t.takes(base(words[wi].Text)) {
		best = p.match(ti+1, wi+1)
	}
	if best == sure || wi == 0 || tokens[ti].any {
		return best
	}
	for end, c := range afterOptions(base(words[0].Text), words[wi:]) {
		switch {
		case end == anywhere:
			best = max(best, doubt)
		case wi+end < len(words):
			best = max(best, min(c, p.match(ti, wi+end)))
		}
	}
	return best
}
