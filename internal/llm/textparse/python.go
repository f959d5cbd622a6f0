package textparse

import (
	"adze/internal/text/jsontext"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// python reads calls as Python writes them, with keywords and literals alone: anything else would
// have to be run to be known.
type python struct{ s string }

func (p *python) space() { p.s = strings.TrimLeft(p.s, space) }

func (p *python) take(token string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.s, token)
	if ok {
		p.s = rest
	}
	return ok
}

// calls reads f(a=1), g(b="x").
func (p *python) calls() (list []found, ok bool) {
	for {
		f, ok := p.call()
		if !ok {
			return nil, false
		}
		list = append(list, f)
		if !p.take(",") {
			return list, true
		}
	}
}

func (p *python) call() (f found, ok bool) {
	f.name = strings.TrimSuffix(p.word(true), ".call")
	if f.name == "" || !p.take("(") {
		return f, false
	}
	var b strings.Builder
	seen := map[string]bool{}
	for !p.take(")") {
		key := p.word(false)
		if key == "" || seen[key] || !p.take("=") || len(seen) > 0 && b.Len() == 0 {
			return f, false
		}
		raw, ok := p.literal(0)
		if !ok {
			return f, false
		}
		if len(seen) > 0 {
			b.WriteString(",")
		}
		seen[key] = true
		b.WriteString(strconv.Quote(key) + ":" + raw)
		if !p.take(",") {
			p.space()
			if !strings.HasPrefix(p.s, ")") {
				return f, false
			}
		}
	}
	f.arguments = "{" + b.String() + "}"
	return f, true
}

// word reads an identifier, with dots where a name may have them.
func (p *python) word(dots bool) string {
	p.space()
	n := 0
	for n < len(p.s) && (wordByte(p.s[n]) || dots && (p.s[n] == '.' || p.s[n] == '-')) {
		n++
	}
	w := p.s[:n]
	p.s = p.s[n:]
	return w
}

func wordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// maxNesting bounds lists in lists.
const maxNesting = 32

// literal reads a value and writes it as JSON.
func (p *python) literal(depth int) (string, bool) {
	p.space()
	if p.s == "" || depth > maxNesting {
		return "", false
	}
	switch p.s[0] {
	case '"', '\'':
		return p.text()
	case '[', '(':
		return p.list(depth)
	case '{':
		return p.dict(depth)
	}
	if w := p.word(false); w != "" && !('0' <= w[0] && w[0] <= '9') {
		known := map[string]string{"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}
		raw, ok := known[w]
		return raw, ok
	} else if w != "" {
		p.s = w + p.s
	}
	n := len(p.s) - len(strings.TrimLeft(p.s, "+-.0123456789eE"))
	raw := p.s[:n]
	p.s = p.s[n:]
	return raw, n > 0 && json.Valid([]byte(raw))
}

func (p *python) list(depth int) (string, bool) {
	end := map[byte]string{'[': "]", '(': ")"}[p.s[0]]
	p.s = p.s[1:]
	var items []string
	for !p.take(end) {
		raw, ok := p.literal(depth + 1)
		if !ok {
			return "", false
		}
		items = append(items, raw)
		if !p.take(",") && !p.ahead(end) {
			return "", false
		}
	}
	return "[" + strings.Join(items, ",") + "]", true
}

func (p *python) dict(depth int) (string, bool) {
	p.s = p.s[1:]
	var items []string
	for !p.take("}") {
		p.space()
		if p.s == "" || p.s[0] != '"' && p.s[0] != '\'' {
			return "", false
		}
		key, ok := p.text()
		if !ok || !p.take(":") {
			return "", false
		}
		raw, ok := p.literal(depth + 1)
		if !ok {
			return "", false
		}
		items = append(items, key+":"+raw)
		if !p.take(",") && !p.ahead("}") {
			return "", false
		}
	}
	return "{" + strings.Join(items, ",") + "}", true
}

func (p *python) ahead(token string) bool {
	p.space()
	return strings.HasPrefix(p.s, token)
}

// text reads a string and writes it as JSON.
func (p *python) text() (string, bool) {
	end := p.s[:1]
	if triple := strings.Repeat(end, 3); strings.HasPrefix(p.s, triple) {
		end = triple
	}
	p.s = p.s[len(end):]
	var b strings.Builder
	for p.s != "" {
		switch {
		case strings.HasPrefix(p.s, end):
			p.s = p.s[len(end):]
			return encode(b.String())
		case p.s[0] == '\\':
			if !p.escape(&b) {
				return "", false
			}
		default:
			b.WriteByte(p.s[0])
			p.s = p.s[1:]
		}
	}
	return "", false
}

// escape reads what follows a backslash. Python leaves a backslash before other letters standing.
func (p *python) escape(b *strings.Builder) bool {
	if len(p.s) < 2 {
		return false
	}
	simple := map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '\\': "\\", '\'': "'", '"': `"`, '\n': "", 'b': "\b", 'f': "\f", '0': "\x00", '/': "/"}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}
	c := p.s[1]
	switch text, ok := simple[c]; {
	case ok:
		b.WriteString(text)
		p.s = p.s[2:]
		return true
	case digits[c] == 0:
		b.WriteByte('\\')
		p.s = p.s[1:]
		return true
	}
	end := 2 + digits[c]
	if len(p.s) < end {
		return false
	}
	code, err := strconv.ParseUint(p.s[2:end], 16, 32)
	if err != nil || code > utf8.MaxRune || 0xD800 <= code && code <= 0xDFFF {
		return false
	}
	b.WriteRune(rune(code))
	p.s = p.s[end:]
	return true
}

func encode(text string) (string, bool) {
	quoted, err := jsontext.Marshal(text)
	return string(quoted), err == nil
}
