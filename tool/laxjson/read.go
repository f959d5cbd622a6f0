// Package laxjson reads near-JSON, as models write it, into a tree that keeps name order, duplicate
// names, and every digit in a number.
//
// The one rule: it is lax about spelling, never about where a value ends. It records each lax step,
// and refuses ambiguous text.
//
// Start reading at Read and Arguments; quoted.go reads strings, behind.go the text after an object,
// literal.go Python literals; steps.go names the steps, tree.go has the Tree.
//
// Known limits: it reads the whole text at once, and it repairs nothing: package tool fits values
// to a schema.
package laxjson

import "strings"

// reader reads near-JSON. It is lax about spelling, never about ends: each object, array, string
// and comment must be closed, and nothing may follow.
type reader struct {
	text  string
	at    int
	depth int
	did   *Steps
	in    language
}

// Read reads one value and records lax steps; false if the text is ambiguous.
func Read(text string, did *Steps) (*Tree, bool) {
	text = strings.TrimSpace(text)
	if inner, fenced := Unfence(text); fenced {
		text = inner
		did.Add(stepFence)
	}
	r := reader{text: text, did: did}
	value, ok := r.value()
	return value, ok && r.skip() && r.at == len(r.text)
}

// Arguments also skips text that models leave around arguments: a byte order mark, words before the
// only fence, and after a complete object closing brackets, end marks, and the same object again.
func Arguments(text string, did *Steps) (*Tree, bool) {
	text = strings.TrimSpace(text)
	if rest, marked := strings.CutPrefix(text, "\ufeff"); marked {
		text = rest
		did.Add(stepMark)
	}
	if fenced, ok := afterProse(text); ok {
		text = fenced
		did.Add(stepProse)
	}
	text = strings.TrimSpace(text)
	if inner, fenced := Unfence(text); fenced {
		text = inner
		did.Add(stepFence)
	}
	if rest, labelled := strings.CutPrefix(text, "json"); labelled && strings.HasPrefix(strings.TrimSpace(rest), "{") {
		text = rest
		did.Add(stepLabel)
	}
	r := reader{text: text, did: did}
	value, ok := r.value()
	if !ok || !r.skip() {
		return nil, false
	}
	if rest := r.text[r.at:]; rest != "" {
		if value, ok = behind(value, rest, did); !ok {
			return nil, false
		}
	}
	// An unescaped quote can end a line of content, and then an apparent name is content too.
	return value, !did.has(stepBetween) || !did.has(stepControls)
}

// afterProse finds the fence after words that neither are nor contain arguments.
func afterProse(text string) (string, bool) {
	const fence = "```"
	at := strings.Index(text, "\n"+fence)
	if at < 0 || strings.Count(text, fence) != 2 || strings.ContainsAny(text[:at], "{[") || !strings.HasSuffix(text, "\n"+fence) {
		return "", false
	}
	return text[at+1:], true
}

// Unfence returns the text inside a Markdown fence. An unclosed fence was truncated and stays.
func Unfence(text string) (string, bool) {
	const fence = "```"
	if len(text) < 2*len(fence) || !strings.HasPrefix(text, fence) || !strings.HasSuffix(text, fence) {
		return "", false
	}
	inner := text[len(fence) : len(text)-len(fence)]
	language := 0
	for language < len(inner) && (wordByte(inner[language]) || inner[language] == '+' || inner[language] == '-') {
		language++
	}
	return strings.TrimSpace(inner[language:]), true
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// skip skips spaces and comments; false if a comment does not end.
func (r *reader) skip() bool {
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			r.at++
		case r.in != lax:
			return true
		case rest[0] == '#' || strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			r.at += end
			r.did.Add(stepComment)
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest, "*/")
			if end < 2 {
				return false
			}
			r.at += end + 2
			r.did.Add(stepComment)
		default:
			return true
		}
	}
	return true
}

// peek returns the next byte after spaces and comments, or 0 at the end.
func (r *reader) peek() byte {
	if !r.skip() || r.at >= len(r.text) {
		return 0
	}
	return r.text[r.at]
}

// take reads the expected byte.
func (r *reader) take(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.at++
	return true
}

func (r *reader) value() (*Tree, bool) {
	if r.depth++; r.depth > MaxNesting {
		return nil, false
	}
	defer func() { r.depth-- }()
	switch c := r.peek(); {
	case c == 0:
		return nil, false
	case c == '{':
		return r.object()
	case c == '[':
		return r.array('[', ']')
	case c == '(' && r.in == python:
		return r.array('(', ')')
	case c == '-' || '0' <= c && c <= '9':
		return r.number()
	case wordByte(c):
		return r.literal()
	}
	text, ok := r.string()
	return &Tree{Kind: String, Text: text}, ok
}

// string reads a string in the language's quotes.
func (r *reader) string() (string, bool) {
	if r.in == python {
		return r.pythonText()
	}
	return r.quoted()
}

func (r *reader) array(open, shut byte) (*Tree, bool) {
	t := &Tree{Kind: Array}
	ok := r.list(open, shut, func() bool {
		item, ok := r.value()
		t.Items = append(t.Items, item)
		return ok
	})
	return t, ok
}

func (r *reader) object() (*Tree, bool) {
	t := &Tree{Kind: Object}
	ok := r.list('{', '}', func() bool {
		name, ok := r.name()
		if !ok || !r.take(':') {
			return false
		}
		item, ok := r.value()
		t.Names, t.Items = append(t.Names, name), append(t.Items, item)
		return ok
	})
	return t, ok
}

// list reads items between two brackets. Commas are allowed before the first and after the last
// item, but not alone. A line break may replace one if the next item cannot belong to the previous
// one.
func (r *reader) list(open, shut byte, item func() bool) bool {
	if !r.take(open) {
		return false
	}
	if r.take(shut) {
		return true
	}
	if r.in == lax && r.take(',') {
		r.did.Add(stepLeading)
	}
	for item() {
		last := r.at
		if r.take(shut) {
			return true
		}
		if !r.take(',') {
			if !r.nextLine(last, shut) {
				return false
			}
			continue
		}
		if r.take(shut) {
			r.did.Add(stepComma)
			return true
		}
	}
	return false
}

// nextLine reports whether the next item's line break replaces its comma: before a quoted name in
// an object, or between objects or lists in a list. Two strings may be one that was broken up.
func (r *reader) nextLine(last int, shut byte) bool {
	next := r.peek()
	if r.in != lax || !strings.Contains(r.text[last:r.at], "\n") {
		return false
	}
	bracket := (next == '{' || next == '[') && (r.text[last-1] == '}' || r.text[last-1] == ']')
	if shut == '}' && next != '"' || shut == ']' && !bracket {
		return false
	}
	r.did.Add(stepBetween)
	return true
}

// name reads a property's name, quoted or not.
func (r *reader) name() (string, bool) {
	if r.in == python {
		return r.pythonText()
	}
	if c := r.peek(); c == 0 || !wordByte(c) || '0' <= c && c <= '9' {
		return r.quoted()
	}
	start := r.at
	for r.at < len(r.text) && (wordByte(r.text[r.at]) || r.text[r.at] == '-') {
		r.at++
	}
	r.did.Add(stepBare)
	return r.text[start:r.at], true
}

func (r *reader) number() (*Tree, bool) {
	start := r.at
	for r.at < len(r.text) && strings.IndexByte("+-.eE0123456789", r.text[r.at]) >= 0 {
		r.at++
	}
	text := r.text[start:r.at]
	return &Tree{Kind: Number, Text: text}, IsNumber(text)
}

func (r *reader) literal() (*Tree, bool) {
	start := r.at
	for r.at < len(r.text) && wordByte(r.text[r.at]) {
		r.at++
	}
	switch word := r.text[start:r.at]; word {
	case "true", "false", "null":
		return &Tree{Text: word}, true
	case "True", "False":
		r.did.Add(stepPython)
		return &Tree{Text: strings.ToLower(word)}, true
	case "None":
		r.did.Add(stepPython)
		return &Tree{Text: "null"}, true
	}
	return nil, false
}
