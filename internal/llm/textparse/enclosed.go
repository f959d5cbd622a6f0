package textparse

import "strings"

// Most families put their calls between two marks of their own, and differ in what stands there:
// JSON, calls as Python writes them, or tags. All of it is read everywhere.

// enclosure is a pair of marks. A form of its own reads what stands in them, unless it is nil.
type enclosure struct {
	open, close string
	own         func(s *scanner, body string) ([]found, bool)
}

func enclosures() []enclosure {
	return []enclosure{
		{open: "<|tool_call_start|>", close: "<|tool_call_end|>"},                           // LFM2, MiniCPM
		{open: "<|python_start|>", close: "<|python_end|>"},                                 // Llama 4
		{open: "<|action_start|>", close: "<|action_end|>"},                                 // InternLM
		{open: "<|tools_prefix|>", close: "<|tools_suffix|>", own: keyedCalls},              // Apertus
		{open: "<TOOLCALL>", close: "</TOOLCALL>"},                                          // Nemotron
		{open: "<seed:tool_call>", close: "</seed:tool_call>"},                              // Seed-OSS
		{open: "<function_call>", close: "</function_call>", own: rowOf("<function_call>")}, // Granite 20B
		{open: "<longcat_tool_call>", close: "</longcat_tool_call>"},
		{open: "<tools>", close: "</tools>", own: toolsTag}, // Qwen2.5-coder, which takes the tag of its prompt
	}
}

// read reads a block. The closing mark may be missing at the end where what stands before it is
// whole by itself.
func (e enclosure) read(s *scanner, held string) reading {
	body, closed := strings.CutSuffix(held[len(e.open):], e.close)
	body = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(body), "<|plugin|>"))
	if body == "" || !closed && (!s.ended || !delimited(body)) {
		return reading{verdict: s.atEnd(no)}
	}
	inside := s.body
	if e.own != nil {
		inside = func(body string) ([]found, bool) { return e.own(s, body) }
	}
	calls, ok := inside(body)
	return s.orWait(s.all(calls, ok))
}

// delimited reports whether text shows itself where it ends.
func delimited(body string) bool {
	return body[0] == '{' || body[0] == '[' || strings.HasPrefix(body, "<function=") || strings.HasPrefix(body, "```")
}

// body reads calls in any of the ways to write them, to the end of the text.
func (s *scanner) body(body string) ([]found, bool) {
	body = strings.TrimSpace(body)
	switch {
	case body == "":
		return nil, false
	case strings.HasPrefix(body, "```"):
		inner, closed := strings.CutSuffix(body[3:], "```")
		_, inner, _ = strings.Cut(inner, "\n")
		if !closed || strings.HasPrefix(strings.TrimSpace(inner), "```") {
			return nil, false
		}
		return s.body(inner)
	case strings.HasPrefix(body, "<tool_call>"):
		return s.nested(body)
	case strings.HasPrefix(body, "<function="):
		return s.functions(body)
	case body[0] == '<':
		return s.invokes(body)
	case body[0] == '{' || body[0] == '[':
		if calls, rest, ok := objects(body, false); ok && strings.TrimSpace(rest) == "" {
			return calls, true
		}
		return pythonic(body)
	case strings.Contains(firstLine(body), "("):
		return pythonic(body)
	}
	f, ok := named(body)
	return []found{f}, ok
}

// nested reads <tool_call> after <tool_call> between outer tags, as Hunyuan has them.
func (s *scanner) nested(body string) (calls []found, ok bool) {
	for body != "" {
		after, begun := strings.CutPrefix(body, "<tool_call>")
		inner, rest, closed := strings.Cut(after, "</tool_call>")
		inner = strings.TrimSpace(inner)
		if !begun || !closed || inner == "" {
			return nil, false
		}
		more, ok := s.tagged(inner, true)
		if inner[0] == '{' || inner[0] == '[' {
			more, ok = s.body(inner)
		}
		if !ok {
			return nil, false
		}
		calls, body = append(calls, more...), strings.TrimSpace(rest)
	}
	return calls, len(calls) > 0
}

// pythonic reads [f(a=1), g()], or calls on lines of their own.
func pythonic(body string) ([]found, bool) {
	inner, list := strings.CutPrefix(body, "[")
	p := python{inner}
	calls, ok := p.calls()
	for ok && !list && strings.TrimSpace(strings.TrimLeft(p.s, ";")) != "" {
		p.s = strings.TrimLeft(p.s, ";")
		var f found
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

// rowOf reads objects with a mark before each but the first.
func rowOf(mark string) func(s *scanner, body string) ([]found, bool) {
	return func(_ *scanner, body string) (calls []found, ok bool) {
		for {
			more, rest, ok := objects(body, false)
			if !ok {
				return nil, false
			}
			calls = append(calls, more...)
			if rest = strings.TrimSpace(rest); rest == "" {
				return calls, true
			}
			if body, ok = strings.CutPrefix(rest, mark); !ok {
				return nil, false
			}
		}
	}
}

// toolsTag reads objects in the tag that holds the definitions in the prompt: one that defines is
// no call.
func toolsTag(s *scanner, body string) ([]found, bool) {
	if body[0] != '{' && body[0] != '[' || strings.Contains(body, `"properties"`) || strings.Contains(body, `"description"`) {
		return nil, false
	}
	return s.body(body)
}

// keyedCalls reads [{"NAME": {…}}, …], as Apertus writes it.
func keyedCalls(_ *scanner, body string) (calls []found, ok bool) {
	body, list := strings.CutPrefix(body, "[")
	for {
		one, rest, ok := members(body)
		if !ok || len(one) != 1 || !strings.HasPrefix(one[0].value, "{") {
			return nil, false
		}
		calls = append(calls, found{one[0].key, one[0].value})
		body = strings.TrimLeft(rest, space)
		if next, more := strings.CutPrefix(body, ","); more {
			body = next
			continue
		}
		if list {
			body, ok = strings.CutPrefix(body, "]")
		}
		return calls, ok && strings.TrimSpace(body) == ""
	}
}

// probeBody judges the beginning of what stands between marks.
func probeBody(s *scanner, rest string) bool {
	rest = strings.TrimLeft(rest, space)
	rest = strings.TrimLeft(strings.TrimPrefix(rest, "<|plugin|>"), space)
	switch {
	case rest == "" || rest[0] == '{' || rest[0] == '[' || rest[0] == '`':
		return true
	case rest[0] != '<':
		p := python{rest}
		name := p.word(true)
		return p.s == "" && s.tools.starts(name) || s.tools.named(strings.TrimSuffix(name, ".call")) != nil
	}
	if after, ok := strings.CutPrefix(rest, "<function="); ok {
		return probeFunction(s, after)
	}
	for _, open := range []string{"<function=", "<tool_call>", "<|plugin|>"} {
		if strings.HasPrefix(open, rest) || strings.HasPrefix(rest, open) {
			return true
		}
	}
	return s.invoking(rest)
}
