// Package laxjson reads what is almost JSON, as models write it, into a tree that keeps the order
// of names, names that stand twice, and every digit of a number.
//
// The one rule: it is lax about how things are written, never about where they end. It notes each
// step that was lax, and what cannot be read with certainty is not read.
//
// Start reading at Read and Arguments; quoted.go reads texts, behind.go what follows an object,
// literal.go has two other ways to write a value, in calls that models write as text; steps.go has
// the names of the steps, tree.go the Tree.
//
// Known limits: it reads the whole text at once, and it mends nothing: what a schema wants is the
// matter of tool.
package laxjson

import "strings"

// reader reads what is almost JSON. It is lax about how things are written, never about where they
// end: each object, array, string and comment must be closed, and nothing may follow.
type reader struct {
	text  string
	at    int
	depth int
	did   *Steps
	in    language
}

// Read reads one value and notes what was lax about it; false where it cannot be read with
// certainty.
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

// Arguments also passes over what models leave around arguments: a byte order mark, words before
// the one fence that holds them, and what stands behind an object that is whole: closing brackets,
// the marks with which models end a call, the same object once more.
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
	// A quote that was not escaped can end a line of content, and then what looks like a name is
	// content, too.
	return value, !did.has(stepBetween) || !did.has(stepControls)
}

// afterProse finds the fence behind words that neither are arguments nor hold any.
func afterProse(text string) (string, bool) {
	const fence = "```"
	at := strings.Index(text, "\n"+fence)
	if at < 0 || strings.Count(text, fence) != 2 || strings.ContainsAny(text[:at], "{[") || !strings.HasSuffix(text, "\n"+fence) {
		return "", false
	}
	return text[at+1:], true
}

// Unfence takes the text out of a Markdown fence. One that is not closed was cut, and stays.
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

// skip passes spaces and comments; false when a comment does not end.
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

// peek is the next byte after spaces and comments; 0 at the end.
func (r *reader) peek() byte {
	if !r.skip() || r.at >= len(r.text) {
		return 0
	}
	return r.text[r.at]
}

// take passes a byte that must come next.
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

// string reads a text in the quotes of its language.
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

// list reads items between two brackets. A comma may stand before the first and behind the last,
// none may stand alone, and a line break may stand for one where what follows cannot belong to the
// item before.
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

// nextLine reports whether the next item begins on a line of its own, which makes up for its comma:
// a quoted name in an object, an object or list behind another in a list. Two texts may be one that
// was broken up.
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

// name reads the name of a property, also one without quotes.
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
