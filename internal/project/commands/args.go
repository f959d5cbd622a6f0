package commands

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"adze/internal/project/discovery"
)

// arguments are what the user wrote behind a command's name, and how its text speaks of them.
type arguments struct {
	all   string
	words []string
	names []string // of the words, in their order, as the front matter lists them
	first int      // the number of the first word
	rest  int      // the number that takes all words from there on, as in opencode; if -1, none does
	of    string   // whose way of writing it is
	used  bool
}

// argumentsOf reads the rest of a command's line. The first word is $0 in Claude Code (2.1.332),
// and $1 in the others, unless the text holds $0 or $ARGUMENTS[, which only count from 0.
func argumentsOf(rest string, item discovery.Item, text discovery.Text) *arguments {
	a := &arguments{all: strings.TrimSpace(rest), words: fields(rest), first: 1, rest: -1, of: item.Dialect}
	a.names, _ = text.Front.List("arguments")
	for n := range a.names {
		a.names[n] = strings.Trim(a.names[n], "<>[]$")
	}
	for _, p := range discovery.Parts(text.Body) {
		each(p.Text, func(m mark) string {
			if a.of == "claude" || m.number == 0 && p.Kind != discovery.Shell && a.of != "opencode" || m.index {
				a.first = 0
			}
			if a.of == "opencode" {
				a.rest = max(a.rest, m.number)
			}
			return ""
		})
	}
	return a
}

// fields splits a line at blanks that stand in no quotes. Quotes that do not end are none.
func fields(line string) (out []string) {
	var b strings.Builder
	var quote byte
	open := false
	for at := range len(line) {
		switch c := line[at]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\'') && strings.IndexByte(line[at+1:], c) >= 0 && (!open || c == '"'):
			quote, open = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if open {
				out = append(out, b.String())
			}
			b.Reset()
			open = false
		default:
			b.WriteByte(c)
			open = true
		}
	}
	if open {
		out = append(out, b.String())
	}
	return out
}

// mark is one place where a text speaks of arguments.
type mark struct {
	from, to int
	name     string // what stands behind the dollar; if empty, a number
	number   int    // if -1, none
	index    bool   // $ARGUMENTS[number], which counts from 0
}

// each calls for every place in a text that may speak of arguments, and puts what is returned into
// its place; where that is not known, the place stays as it is.
func each(text string, put func(mark) string) string {
	var b strings.Builder
	from := 0
	for at := 0; at < len(text); at++ {
		if text[at] != '$' {
			continue
		}
		m, ok := markAt(text, at)
		if !ok {
			continue
		}
		b.WriteString(text[from:at])
		b.WriteString(put(m))
		from, at = m.to, m.to-1
	}
	return b.String() + text[from:]
}

func markAt(text string, at int) (mark, bool) {
	end := at + 1
	for end < len(text) && wordy(text[end]) {
		end++
	}
	m := mark{from: at, to: end, name: text[at+1 : end], number: -1}
	if m.name == "" {
		return m, false
	}
	if m.name[0] >= '0' && m.name[0] <= '9' {
		n, err := strconv.Atoi(m.name)
		m.number, m.name = n, ""
		return m, err == nil
	}
	if m.name == "ARGUMENTS" && strings.HasPrefix(text[end:], "[") {
		if n, err := strconv.Atoi(text[end+1 : end+1+max(0, strings.IndexByte(text[end+1:], ']'))]); err == nil && n >= 0 && n < 100 {
			m.number, m.index = n, true
			m.to = end + strings.IndexByte(text[end:], ']') + 1
		}
	}
	return m, true
}

func wordy(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// meant are the words that a place stands for; known false: it speaks of something else.
func (a *arguments) meant(m mark) (words []string, known bool) {
	switch {
	case m.number >= 0:
		at := m.number - a.first
		if m.index {
			at = m.number
		}
		switch {
		case at < 0 || at >= len(a.words): // stays in Claude Code, and is empty elsewhere; $100 is money
			return nil, a.of == "opencode" || a.of != "claude" && m.number < 10
		case m.number == a.rest:
			return a.words[at:], true
		}
		return a.words[at : at+1], true
	case m.name == "ARGUMENTS":
		return a.words, true
	}
	for n, name := range a.names {
		if name == m.name {
			if n < len(a.words) {
				return a.words[n : n+1], true
			}
			return nil, true
		}
	}
	return nil, false
}

// fill puts arguments into a text that no shell reads.
func (a *arguments) fill(text string) string {
	if a.of != "opencode" { // which keeps the sign, and fills in what stands behind it
		text = literal().ReplaceAllString(text, "\x00${1}")
	}
	text = each(text, func(m mark) string {
		words, known := a.meant(m)
		if !known {
			return text[m.from:m.to]
		}
		a.used = true
		if m.name == "ARGUMENTS" && !m.index {
			return a.all
		}
		return strings.Join(words, " ")
	})
	return strings.ReplaceAll(text, "\x00", "$")
}

// literal is a place behind a backslash, such as \$1: it stays as text.
var literal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\\$(\d|ARGUMENTS\b)`) })
