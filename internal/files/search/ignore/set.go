package ignore

import "strings"

// addSet compiles the set that begins at pattern[i] == '[' and returns its end. An unclosed set or
// unknown class name makes the pattern match nothing, as in git.
func (w *wild) addSet(pattern string, i int) int {
	p := setParser{text: pattern[i+1:]}
	set, ok := p.parse()
	if !ok {
		w.broken = true
		return len(pattern)
	}
	w.ops = append(w.ops, op{kind: opSet, set: set})
	return i + 1 + p.pos
}

type setParser struct {
	text string
	pos  int
	set  byteSet
	prev byte // previous member, which may start a range; 0 for none
}

func (p *setParser) parse() (*byteSet, bool) {
	negated := strings.HasPrefix(p.text, "!") || strings.HasPrefix(p.text, "^")
	if negated {
		p.pos++
	}
	// A leading closing bracket is a member.
	for first := true; ; first = false {
		if p.pos >= len(p.text) {
			return nil, false
		}
		if p.text[p.pos] == ']' && !first {
			p.pos++
			break
		}
		if !p.member() {
			return nil, false
		}
	}
	if negated {
		for k := range p.set {
			p.set[k] = ^p.set[k]
		}
	}
	return &p.set, true
}

func (p *setParser) member() bool {
	rest := p.text[p.pos:]
	switch {
	case rest[0] == '-' && p.prev != 0 && len(rest) > 1 && rest[1] != ']':
		p.pos++
		hi, ok := p.char()
		if !ok {
			return false
		}
		p.set.addRange(p.prev, hi)
		p.prev = 0
		return true
	case strings.HasPrefix(rest, "[:"):
		return p.class(rest[2:])
	}
	b, ok := p.char()
	p.set.add(b)
	p.prev = b
	return ok
}

func (p *setParser) char() (byte, bool) {
	if p.text[p.pos] == '\\' {
		p.pos++
	}
	if p.pos >= len(p.text) {
		return 0, false
	}
	p.pos++
	return p.text[p.pos-1], true
}

// class reads a named class such as [:alpha:]; rest follows its "[:".
func (p *setParser) class(rest string) bool {
	end := strings.IndexByte(rest, ']')
	if end < 0 {
		return false
	}
	name, ok := strings.CutSuffix(rest[:end], ":")
	if !ok {
		// Without ":]" the bracket is an ordinary member.
		p.set.add('[')
		p.prev = '['
		p.pos++
		return true
	}
	in := classTest(name)
	if in == nil {
		return false
	}
	for b := range 128 {
		if in(byte(b)) {
			p.set.add(byte(b))
		}
	}
	p.pos += len("[:") + end + 1
	p.prev = 0
	return true
}

// classTest returns the test for a named class over ASCII as git defines it: vertical tab and form
// feed are not spaces.
func classTest(name string) func(byte) bool {
	switch name {
	case "alnum":
		return func(b byte) bool { return isAlpha(b) || isDigit(b) }
	case "alpha":
		return isAlpha
	case "blank":
		return func(b byte) bool { return b == ' ' || b == '\t' }
	case "cntrl":
		return func(b byte) bool { return b < ' ' || b == 0x7f }
	case "digit":
		return isDigit
	case "graph":
		return isGraph
	case "lower":
		return isLower
	case "print":
		return func(b byte) bool { return b == ' ' || isGraph(b) }
	case "punct":
		return func(b byte) bool { return isGraph(b) && !isAlpha(b) && !isDigit(b) }
	case "space":
		return func(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }
	case "upper":
		return isUpper
	case "xdigit":
		return func(b byte) bool { return isDigit(b) || (b|0x20 >= 'a' && b|0x20 <= 'f') }
	}
	return nil
}

func isLower(b byte) bool { return b >= 'a' && b <= 'z' }
func isUpper(b byte) bool { return b >= 'A' && b <= 'Z' }
func isAlpha(b byte) bool { return isLower(b) || isUpper(b) }
func isDigit(b byte) bool { return b >= '0' && b <= '9' }
func isGraph(b byte) bool { return b > ' ' && b < 0x7f }
