package policy

import (
	"errors"
	"fmt"
	"strings"
)

// argvMatcher matches the words of a command one by one.
type argvMatcher struct {
	tokens []token
	rest   bool // ended with **
}

// token matches one word: any, or one of the given ones.
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
			m.rest = true
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

// mword is one word of a matcher. A quoted one is literal.
type mword struct {
	text   string
	quoted bool
}

// splitMatcher cuts at spaces; '…' and "…" keep what is in them.
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

// quoteWord writes a word so that splitMatcher reads it as that word.
func quoteWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"*{}?[]$`\\;&|<>()") {
		return s
	}
	if !strings.Contains(s, "'") {
		return "'" + s + "'"
	}
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}

// certainty is how sure a match is. Words that are known only when the command runs make it possible.
type certainty int

const (
	no certainty = iota
	possible
	sure
)

// allows matches a command whose words are all known, exactly.
func (m argvMatcher) allows(s simple) bool {
	return m.match(s.words, func(t token, w word, _ bool) certainty {
		if w.known && t.takes(w.text) {
			return sure
		}
		return no
	}) == sure
}

// forbids matches for deny and ask, where doubt counts: a program is also known by the last part of its
// path, and a word that is not known may be anything.
func (m argvMatcher) forbids(s simple) certainty {
	return m.match(s.words, func(t token, w word, first bool) certainty {
		switch {
		case !w.known:
			return possible
		case t.takes(w.text), first && t.takes(base(w.text)):
			return sure
		}
		return no
	})
}

func (t token) takes(text string) bool {
	if t.any {
		return true
	}
	for _, one := range t.oneOf {
		if one == text {
			return true
		}
	}
	return false
}

// match compares word by word. A word that is not known may stand for none or many, so after it a mismatch
// is no longer certain.
func (m argvMatcher) match(words []word, compare func(token, word, bool) certainty) certainty {
	out := sure
	for i, t := range m.tokens {
		if i >= len(words) {
			return no
		}
		c := compare(t, words[i], i == 0)
		if !words[i].known && c == possible {
			return possible
		}
		if c == no {
			return no
		}
		out = min(out, c)
	}
	if len(words) > len(m.tokens) && !m.rest {
		if !words[len(m.tokens)].known {
			return min(out, possible)
		}
		return no
	}
	return out
}
