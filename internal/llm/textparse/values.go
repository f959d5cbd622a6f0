package textparse

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"adze/tool/laxjson"
)

// balance tracks brackets and strings of JSON and Python, byte by byte.
type balance struct {
	depth  int
	opened bool
	quote  byte
	triple bool
	escape bool
	run    int // adjacent equal quotes outside a string
}

func (b *balance) add(c byte) {
	switch {
	case b.quote != 0 && b.run > 0:
		b.begin(c)
	case b.quote != 0:
		b.inside(c)
	case c == '"' || c == '\'':
		b.quote, b.run = c, 1
	case c == '[' || c == '{' || c == '(':
		b.depth++
		b.opened = true
	case c == ']' || c == '}' || c == ')':
		b.depth--
	}
}

// begin distinguishes an empty string, a string and a triple quote.
func (b *balance) begin(c byte) {
	switch {
	case c == b.quote && b.run == 1:
		b.run = 2
	case c == b.quote:
		b.triple, b.run = true, 0
	case b.run == 2: // it was empty
		*b = balance{depth: b.depth, opened: b.opened}
		b.add(c)
	default:
		b.run = 0
		b.inside(c)
	}
}

func (b *balance) inside(c byte) {
	switch {
	case b.escape:
		b.escape = false
		b.run = 0
	case c == '\\':
		b.escape = true
		b.run = 0
	case c == b.quote && b.triple:
		b.close(c)
	case c == b.quote:
		b.quote = 0
	}
}

// close counts the quotes that end a triple one, below zero so that begin ignores them.
func (b *balance) close(byte) {
	if b.run--; b.run == -3 {
		*b = balance{depth: b.depth, opened: b.opened}
	}
}

// closed reports whether all opened brackets are closed.
func (b *balance) closed() bool { return b.opened && b.depth <= 0 && (b.quote == 0 || b.run == 2) }

// span returns the end of the bracketed value at i, or -1.
func span(s string, i int) int {
	var b balance
	for ; i < len(s); i++ {
		b.add(s[i])
		if b.closed() {
			return i + 1
		}
		if !b.opened {
			return -1
		}
	}
	return -1
}

type member struct{ key, value string }

// members reads the top level of an object, tolerating models' quotes and commas; it never adds
// missing text. rest is the text after the object.
func members(s string) (list []member, rest string, ok bool) {
	s = strings.TrimLeft(s, space)
	if s == "" || s[0] != '{' {
		return nil, s, false
	}
	s = strings.TrimLeft(s[1:], space)
	for {
		if strings.HasPrefix(s, "}") {
			return list, s[1:], true
		}
		var m member
		if m.key, s, ok = quoted(s); !ok {
			return nil, s, false
		}
		s = strings.TrimLeft(s, space)
		if !strings.HasPrefix(s, ":") {
			return nil, s, false
		}
		if m.value, s, ok = value(strings.TrimLeft(s[1:], space)); !ok {
			return nil, s, false
		}
		list = append(list, m)
		s = strings.TrimLeft(s, space)
		if strings.HasPrefix(s, ",") {
			s = strings.TrimLeft(s[1:], space)
		} else if !strings.HasPrefix(s, "}") {
			return nil, s, false
		}
	}
}

const space = " \t\r\n"

// quoted reads a string in either kind of quotes, without decoding it.
func quoted(s string) (inner, rest string, ok bool) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return "", s, false
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return s[1:i], s[i+1:], true
		}
	}
	return "", s, false
}

func value(s string) (raw, rest string, ok bool) {
	switch {
	case s == "":
		return "", s, false
	case s[0] == '{' || s[0] == '[':
		end := span(s, 0)
		if end < 0 {
			return "", s, false
		}
		return s[:end], s[end:], true
	case s[0] == '"' || s[0] == '\'':
		_, rest, ok = quoted(s)
		return s[:len(s)-len(rest)], rest, ok
	}
	end := strings.IndexAny(s, ",}] \t\r\n")
	if end <= 0 {
		return "", s, false
	}
	return s[:end], s[end:], true
}

// Keys for a call's name and its arguments.
func nameKeys() []string { return []string{"name", "function", "tool", "tool_name", "function_name"} }
func argsKeys() []string {
	return []string{"arguments", "parameters", "args", "params", "input", "tool_input", "parameter"}
}

// sideKeys may stand beside them and are ignored.
func sideKeys() []string { return []string{"type", "id", "index", "call_id", "tool_call_id"} }

// object reads a call from an object. strict accepts only a call, all of which must be readable.
func object(s string, strict bool) (f blockCall, rest string, ok bool) {
	list, rest, ok := members(s)
	if !ok || strict && !valid(s[:len(s)-len(rest)]) {
		return f, rest, false
	}
	named, given, more := false, false, false
	for _, m := range list {
		switch {
		case inner(m):
			f, _, ok = object(m.value, strict)
			if !ok || named {
				return f, rest, false
			}
			named, given = true, true
		case slices.Contains(nameKeys(), m.key) && !named:
			named = true
			if f.name, _, ok = quoted(m.value); !ok {
				return f, rest, false
			}
		case slices.Contains(argsKeys(), m.key) && !given:
			given = true
			if defines(m.value) {
				return f, rest, false
			}
			f.arguments = arguments(m.value)
		case slices.Contains(nameKeys(), m.key) || slices.Contains(argsKeys(), m.key):
			return f, rest, false // duplicate
		case !slices.Contains(sideKeys(), m.key):
			more = true
		}
	}
	// Without arguments, other members may be them.
	return f, rest, named && (given && !(strict && more) || !given && !strict && !more)
}

// valid reports whether text is one value in JSON or Python syntax: with single quotes, a trailing
// comma, or line breaks in strings. Nothing is ambiguous in it.
func valid(text string) bool {
	if json.Valid([]byte(text)) {
		return true
	}
	_, rest, ok := laxjson.Python(text)
	return ok && strings.TrimSpace(rest) == ""
}

// defines reports whether the arguments are a schema, so that the object is a tool's definition.
func defines(raw string) bool {
	list, _, ok := members(raw)
	hasType, hasProperties := false, false
	for _, m := range list {
		hasType = hasType || m.key == "type" && strings.Trim(m.value, `"'`) == "object"
		hasProperties = hasProperties || m.key == "properties" && strings.HasPrefix(m.value, "{")
	}
	return ok && hasType && hasProperties
}

// inner reports whether a member wraps a call: {"function": {"name": ...}}.
func inner(m member) bool {
	return (m.key == "function" || m.key == "tool_call" || m.key == "function_call") && strings.HasPrefix(m.value, "{")
}

// inList reads calls in OpenAI's response form, in an object with no other member: {"tool_calls":
// [...]}.
func inList(s string, strict bool) (calls []blockCall, rest string, ok bool) {
	list, rest, ok := members(s)
	if !ok || len(list) != 1 || list[0].key != "tool_calls" || strict && !valid(s[:len(s)-len(rest)]) {
		return nil, s, false
	}
	if !strings.HasPrefix(list[0].value, "[") || strings.HasPrefix(strings.TrimLeft(list[0].value[1:], space), "[") {
		return nil, s, false
	}
	calls, after, ok := objects(list[0].value, strict)
	return calls, rest, ok && strings.TrimSpace(after) == ""
}

// arguments decodes arguments in a JSON string; others stay unchanged.
func arguments(raw string) string {
	var text string
	if strings.HasPrefix(raw, `"`) && json.Unmarshal([]byte(raw), &text) == nil && strings.HasPrefix(strings.TrimSpace(text), "{") {
		return text
	}
	if raw == "null" || raw == "None" {
		return "{}"
	}
	return raw
}

// objects reads one call, a list of calls, or several in a row.
func objects(s string, strict bool) (calls []blockCall, rest string, ok bool) {
	s = strings.TrimLeft(s, space)
	list := strings.HasPrefix(s, "[")
	if list {
		s = s[1:]
	}
	for {
		if many, after, wrapped := inList(s, strict); wrapped && !list && len(calls) == 0 {
			return many, after, true
		}
		s = strings.TrimLeft(s, space)
		if list && strings.HasPrefix(s, "]") {
			return calls, s[1:], len(calls) > 0
		}
		if !strings.HasPrefix(s, "{") {
			return calls, s, len(calls) > 0 && !list
		}
		var f blockCall
		if f, s, ok = object(s, strict); !ok {
			return nil, s, false
		}
		calls = append(calls, f)
		s = strings.TrimLeft(s, space)
		s = strings.TrimPrefix(s, ",")
	}
}

// python reads calls in Python syntax, with keyword arguments and literals only: other expressions
// would need evaluation.
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
func (p *python) calls() (list []blockCall, ok bool) {
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

func (p *python) call() (f blockCall, ok bool) {
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

// word reads an identifier, with dots if allowed.
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

// pythonic reads [f(a=1), g()], or calls on separate lines.
func pythonic(body string) ([]blockCall, bool) {
	inner, list := strings.CutPrefix(body, "[")
	p := python{inner}
	calls, ok := p.calls()
	for ok && !list && strings.TrimSpace(strings.TrimLeft(p.s, ";")) != "" {
		p.s = strings.TrimLeft(p.s, ";")
		var f blockCall
		if f, ok = p.call(); ok {
			calls = append(calls, f)
		}
		p.take(",")
	}
	if list {
		p.take(",")
		ok = ok && p.take("]")
	}
	return calls, ok && strings.Trim(p.s, space+";") == ""
}
