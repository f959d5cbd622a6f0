package textparse

import (
	"strings"

	"adze/tool/laxjson"
)

// readTagged reads <tool_call>: Hermes' JSON, Qwen-coder's <function=…>, GLM's name and <arg_key>.
// Where what it holds is whole by itself, the closing tag may be missing at the end and before the
// next: servers do not print a model's stop token.
func readTagged(s *scanner, held string) reading {
	body := held[len("<tool_call>"):]
	rest, closed := 0, false
	if body == "" {
		return reading{verdict: s.atEnd(no)}
	}
	if inner, ok := strings.CutSuffix(body, "</tool_call>"); ok {
		body, closed = inner, true
	} else if inner, ok := strings.CutSuffix(body, "<tool_call>"); ok {
		body, rest = inner, len("<tool_call>")
	}
	body = strings.TrimSpace(body)
	if body == "" {
		return reading{verdict: no, rest: rest}
	}
	if body[0] == '{' || body[0] == '[' {
		if calls, after, ok := objects(body, false); ok && strings.TrimSpace(after) == "" {
			r := s.all(calls, true)
			r.rest = rest
			return r
		}
		return s.orWait(reading{verdict: no, rest: rest})
	}
	calls, ok := s.tagged(body, closed)
	r := s.orWait(s.all(calls, ok))
	r.rest = rest
	return r
}

// tagged reads what is no JSON. A name with arguments in tags ends only with the closing tag:
// without it, more might have come.
func (s *scanner) tagged(body string, closed bool) ([]found, bool) {
	switch {
	case strings.HasPrefix(body, "<function="):
		return s.functions(body)
	case strings.HasPrefix(body, "<") || strings.Contains(firstLine(body), "("):
		return s.body(body)
	case !closed:
		return nil, false
	}
	if f, ok := named(body); ok {
		return []found{f}, true
	}
	return s.glm(body)
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}

// named reads a name and an object of arguments.
func named(text string) (found, bool) {
	at := strings.IndexByte(text, '{')
	if at <= 0 || span(text, at) < 0 || strings.TrimSpace(text[span(text, at):]) != "" {
		return found{}, false
	}
	return found{strings.Trim(text[:at], space+":"), strings.TrimSpace(text[at:])}, true
}

func probeTagged(s *scanner, rest string) bool {
	rest = strings.TrimLeft(rest, space)
	switch {
	case rest == "" || rest[0] == '{' || rest[0] == '[':
		return true
	case rest[0] == '<':
		return probeBody(s, rest)
	}
	if s.call(rest) || strings.HasPrefix(rest, "```") {
		return true
	}
	name, _, whole := strings.Cut(rest, "\n")
	if i := strings.IndexAny(name, "<{:"); i >= 0 {
		name, whole = name[:i], true
	}
	name = strings.TrimSpace(name)
	return s.tools.named(name) != nil || !whole && s.tools.starts(name)
}

// readFunction reads <function=NAME> without tags around it.
func readFunction(s *scanner, held string) reading {
	calls, ok := s.functions(held)
	return s.orWait(s.all(calls, ok))
}

func probeFunction(s *scanner, rest string) bool {
	name, _, whole := strings.Cut(rest, ">")
	name = strings.Trim(name, `"' `)
	return whole && s.tools.named(name) != nil || !whole && s.tools.starts(name)
}

// functions reads <function=NAME>…</function> one after the other, to the end of the text.
func (s *scanner) functions(text string) (calls []found, ok bool) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		after, ok := strings.CutPrefix(text, "<function=")
		name, body, closed := strings.Cut(after, ">")
		f := found{name: strings.Trim(name, `"' `)}
		if !ok || !closed || s.tools.named(f.name) == nil {
			return nil, false
		}
		if f.arguments, text, ok = s.parameters(f.name, body); !ok {
			return nil, false
		}
		calls = append(calls, f)
	}
	return calls, len(calls) > 0
}

// parameters reads what stands between <function=NAME> and </function>: parameters, or JSON.
func (s *scanner) parameters(name, body string) (arguments, rest string, ok bool) {
	const end = "</function>"
	body = strings.TrimLeft(body, space)
	if strings.HasPrefix(body, "{") {
		to := span(body, 0)
		if to < 0 {
			return "", "", false
		}
		rest, ok = strings.CutPrefix(strings.TrimLeft(body[to:], space), end)
		return body[:to], rest, ok
	}
	args := newArguments(s.tools, name)
	for {
		if rest, ok := strings.CutPrefix(body, end); ok {
			return args.String(), rest, true
		}
		after, ok := strings.CutPrefix(body, "<parameter=")
		key, text, closed := strings.Cut(after, ">")
		if !ok || !closed {
			return "", "", false
		}
		at := endBefore(text, "</parameter>", "<parameter=", end)
		if next := s.unclosed(args, text[:max(at, 0)], key); next >= 0 {
			if !args.add(strings.Trim(key, `"' `), text[:next]) {
				return "", "", false
			}
			body = text[next:]
			continue
		}
		if at < 0 || !args.add(strings.Trim(key, `"' `), text[:at]) {
			return "", "", false
		}
		body = strings.TrimLeft(text[at+len("</parameter>"):], space)
	}
}

// unclosed is where the next parameter begins in what seems a value, because a model left out a
// closing tag; if -1, there is none. Only an argument of the tool that is still to come can begin
// so, on a line of its own.
func (s *scanner) unclosed(a *args, value, key string) int {
	const open = "<parameter="
	if strings.Contains(value, "</parameter>") {
		return -1 // a text that holds parameters
	}
	for from := 0; ; {
		i := strings.Index(value[from:], open)
		if i < 0 {
			return -1
		}
		at := from + i
		next, _, _ := strings.Cut(value[at+len(open):], ">")
		next = strings.Trim(next, `"' `)
		before := strings.TrimRight(value[:at], " \t")
		if s.tools.has(a.name, next) && !a.seen[next] && next != strings.Trim(key, `"' `) && strings.HasSuffix(before, "\n") {
			return at
		}
		from = at + len(open)
	}
}

// glm reads NAME <arg_key>k</arg_key> <arg_value>v</arg_value> …
func (s *scanner) glm(body string) ([]found, bool) {
	i := strings.IndexByte(body, '<')
	if i < 0 {
		i = len(body)
	}
	f := found{name: strings.TrimSpace(body[:i])}
	if rest, ok := strings.CutPrefix(body[i:], "<tool_sep>"); ok { // Hunyuan
		body, i = rest, 0
	}
	if s.tools.named(f.name) == nil {
		return nil, false
	}
	args := newArguments(s.tools, f.name)
	args.tight = true
	for body = body[i:]; strings.TrimSpace(body) != ""; {
		var key, value string
		var ok bool
		if key, body, ok = element(body, "arg_key"); !ok {
			return nil, false
		}
		if value, body, ok = element(body, "arg_value"); !ok || !args.add(strings.TrimSpace(key), value) {
			return nil, false
		}
	}
	f.arguments = args.String()
	return []found{f}, true
}

func element(text, tag string) (inner, rest string, ok bool) {
	after, ok := strings.CutPrefix(strings.TrimLeft(text, space), "<"+tag+">")
	if !ok {
		return "", text, false
	}
	return strings.Cut(after, "</"+tag+">")
}

// args gathers arguments that were written as text, typed as the tool's schema says.
type args struct {
	tools *tools
	name  string
	tight bool // the template of the family has no line breaks around values
	seen  map[string]bool
	b     strings.Builder
}

func newArguments(t *tools, name string) *args {
	return &args{tools: t, name: name, seen: map[string]bool{}}
}

// add takes one; false for one that was there already.
func (a *args) add(key, text string) bool { return a.put(key, a.typed(key, text)) }

// put takes one as JSON.
func (a *args) put(key, raw string) bool {
	if key == "" || a.seen[key] {
		return false
	}
	if len(a.seen) > 0 {
		a.b.WriteString(",")
	}
	a.seen[key] = true
	a.b.WriteString(laxjson.Quote(key) + ":" + raw)
	return true
}

// typed writes a value as JSON. A line break on either side belongs to the tags; where a family's
// template has none, one at the end alone belongs to the value.
func (a *args) typed(key, text string) string {
	if raw, ok := a.tools.of(a.name, key).value(strings.TrimSpace(text)); ok {
		return raw
	}
	inner := strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n")
	if !a.tight || inner != text {
		inner = strings.TrimSuffix(strings.TrimSuffix(inner, "\n"), "\r")
	}
	text = inner
	return laxjson.Quote(text)
}

func (a *args) String() string { return "{" + a.b.String() + "}" }
