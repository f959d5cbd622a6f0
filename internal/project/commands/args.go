package commands

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"adze/internal/project/discovery"
	"adze/internal/text"
)

// arguments holds the user's text after a command's name, and the command's syntax for arguments.
type arguments struct {
	all       string
	words     []string
	names     []string // the words' names in order, from the front matter
	first     int      // number of the first word
	restArg   int      // number of the argument that takes all remaining words, as in opencode, or -1
	assistant string   // assistant with this syntax
	used      bool
}

// argumentsOf parses the text after a command. The first word is $0 in Claude Code (2.1.332) and $1
// elsewhere, unless the text has $0 or $ARGUMENTS[, which count from 0.
func argumentsOf(rest string, item discovery.Item, file discovery.Text) *arguments {
	a := &arguments{all: strings.TrimSpace(rest), words: text.Words(rest), first: 1, restArg: -1, assistant: item.Dialect}
	a.names, _ = file.FrontMatter.List("arguments")
	for n := range a.names {
		a.names[n] = strings.Trim(a.names[n], "<>[]$")
	}
	for _, p := range discovery.Parts(file.Body) {
		each(p.Text, func(m mark) string {
			if a.assistant == "claude" || m.number == 0 && p.Kind != discovery.Shell && a.assistant != "opencode" || m.index {
				a.first = 0
			}
			if a.assistant == "opencode" {
				a.restArg = max(a.restArg, m.number)
			}
			return ""
		})
	}
	return a
}

type mark struct {
	from, end int
	name      string // name after the dollar; "" for a number
	number    int    // -1 if none
	index     bool   // $ARGUMENTS[number], counting from 0
}

// each replaces every possible argument reference in a text by put's result.
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
		from, at = m.end, m.end-1
	}
	return b.String() + text[from:]
}

func markAt(text string, at int) (mark, bool) {
	end := at + 1
	for end < len(text) && wordy(text[end]) {
		end++
	}
	m := mark{from: at, end: end, name: text[at+1 : end], number: -1}
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
			m.end = end + strings.IndexByte(text[end:], ']') + 1
		}
	}
	return m, true
}

func wordy(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// meant returns the words for a reference, or known false if it is none.
func (a *arguments) meant(m mark) (words []string, known bool) {
	switch {
	case m.number >= 0:
		at := m.number - a.first
		if m.index {
			at = m.number
		}
		switch {
		case at < 0 || at >= len(a.words): // unchanged in Claude Code, empty elsewhere; $100 is money
			return nil, a.assistant == "opencode" || a.assistant != "claude" && m.number < 10
		case m.number == a.restArg:
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

// fill puts arguments into a text outside shell commands.
func (a *arguments) fill(text string) string {
	if a.assistant != "opencode" { // opencode keeps the sign and replaces the rest
		text = literal().ReplaceAllString(text, "\x00${1}")
	}
	text = each(text, func(m mark) string {
		words, known := a.meant(m)
		if !known {
			return text[m.from:m.end]
		}
		a.used = true
		if m.name == "ARGUMENTS" && !m.index {
			return a.all
		}
		return strings.Join(words, " ")
	})
	return strings.ReplaceAll(text, "\x00", "$")
}

// literal matches an escaped reference, such as \$1, which stays as text.
var literal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\\$(\d|ARGUMENTS\b)`) })
