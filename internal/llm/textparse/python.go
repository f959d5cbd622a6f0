package textparse

import (
	"strconv"
	"strings"

	"adze/tool/laxjson"
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
		value, rest, ok := laxjson.Python(p.s)
		if !ok {
			return f, false
		}
		p.s = rest
		if len(seen) > 0 {
			b.WriteString(",")
		}
		seen[key] = true
		b.WriteString(strconv.Quote(key) + ":" + value.String())
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
