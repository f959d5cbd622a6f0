package tool

import "strings"

// loose reads what is almost JSON. It is lax about how things are written, never about where they end:
// each object, array, string and comment must be closed, and nothing may follow.
type loose struct {
	text  string
	at    int
	depth int
	did   *fixes
}

// readLoosely reads one value and notes what was lax about it; false where it cannot be read with certainty.
func readLoosely(text string, did *fixes) (*tree, bool) {
	text = strings.TrimSpace(text)
	if inner, fenced := unfence(text); fenced {
		text = inner
		did.did(stepFence)
	}
	r := loose{text: text, did: did}
	value, ok := r.value()
	return value, ok && r.skip() && r.at == len(r.text)
}

// unfence takes the text out of a Markdown fence. One that is not closed was cut, and stays.
func unfence(text string) (string, bool) {
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
func (r *loose) skip() bool {
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			r.at++
		case rest[0] == '#' || strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			r.at += end
			r.did.did(stepComment)
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest, "*/")
			if end < 2 {
				return false
			}
			r.at += end + 2
			r.did.did(stepComment)
		default:
			return true
		}
	}
	return true
}

// peek is the next byte after spaces and comments; 0 at the end.
func (r *loose) peek() byte {
	if !r.skip() || r.at >= len(r.text) {
		return 0
	}
	return r.text[r.at]
}

// take passes a byte that must come next.
func (r *loose) take(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.at++
	return true
}

func (r *loose) value() (*tree, bool) {
	if r.depth++; r.depth > maxNesting {
		return nil, false
	}
	defer func() { r.depth-- }()
	switch c := r.peek(); {
	case c == 0:
		return nil, false
	case c == '{':
		return r.object()
	case c == '[':
		return r.array()
	case c == '-' || '0' <= c && c <= '9':
		return r.number()
	case wordByte(c):
		return r.literal()
	}
	text, ok := r.quoted()
	return &tree{kind: stringTree, text: text}, ok
}

func (r *loose) array() (*tree, bool) {
	t := &tree{kind: arrayTree}
	ok := r.list('[', ']', func() bool {
		item, ok := r.value()
		t.items = append(t.items, item)
		return ok
	})
	return t, ok
}

func (r *loose) object() (*tree, bool) {
	t := &tree{kind: objectTree}
	ok := r.list('{', '}', func() bool {
		name, ok := r.name()
		if !ok || !r.take(':') {
			return false
		}
		item, ok := r.value()
		t.names, t.items = append(t.names, name), append(t.items, item)
		return ok
	})
	return t, ok
}

// list reads items between two brackets. A comma may follow the last, but none may stand alone.
func (r *loose) list(open, shut byte, item func() bool) bool {
	if !r.take(open) {
		return false
	}
	if r.take(shut) {
		return true
	}
	for item() {
		if r.take(shut) {
			return true
		}
		if !r.take(',') {
			return false
		}
		if r.take(shut) {
			r.did.did(stepComma)
			return true
		}
	}
	return false
}

// name reads the name of a property, also one without quotes.
func (r *loose) name() (string, bool) {
	if c := r.peek(); c == 0 || !wordByte(c) || '0' <= c && c <= '9' {
		return r.quoted()
	}
	start := r.at
	for r.at < len(r.text) && (wordByte(r.text[r.at]) || r.text[r.at] == '-') {
		r.at++
	}
	r.did.did(stepBare)
	return r.text[start:r.at], true
}

func (r *loose) number() (*tree, bool) {
	start := r.at
	for r.at < len(r.text) && strings.IndexByte("+-.eE0123456789", r.text[r.at]) >= 0 {
		r.at++
	}
	text := r.text[start:r.at]
	return &tree{kind: numberTree, text: text}, numberLiteral(text)
}

func (r *loose) literal() (*tree, bool) {
	start := r.at
	for r.at < len(r.text) && wordByte(r.text[r.at]) {
		r.at++
	}
	switch word := r.text[start:r.at]; word {
	case "true", "false", "null":
		return &tree{text: word}, true
	case "True", "False":
		r.did.did(stepPython)
		return &tree{text: strings.ToLower(word)}, true
	case "None":
		r.did.did(stepPython)
		return &tree{text: "null"}, true
	}
	return nil, false
}
