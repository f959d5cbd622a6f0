package textparse

import (
	"slices"
	"strings"
)

// probeMistral judges the name after [TOOL_CALLS], in the newer form that has one there.
func probeMistral(s *scanner, rest string) bool {
	rest = strings.TrimLeft(rest, space)
	if rest == "" || rest[0] == '[' || rest[0] == '{' {
		return true
	}
	p := python{rest}
	name := p.word(true)
	if p.s == "" {
		return s.tools.starts(name)
	}
	return s.tools.named(name) != nil
}

// readMistral reads [TOOL_CALLS] with a list of objects, or with a name, marks and an object.
func readMistral(s *scanner, held string) reading {
	body := strings.TrimSpace(held[len("[TOOL_CALLS]"):])
	if body == "" {
		return reading{verdict: s.atEnd(no)}
	}
	if body[0] == '[' || body[0] == '{' {
		calls, rest, ok := objects(body, false)
		return s.orWait(s.all(calls, ok && rest == ""))
	}
	p := python{body}
	f := found{name: p.word(true)}
	if _, after, ok := strings.Cut(p.s, "[ARGS]"); ok && strings.HasPrefix(p.s, "[CALL_ID]") {
		p.s = after
	}
	p.take("[ARGS]")
	p.space()
	f.arguments = p.s
	if !strings.HasPrefix(p.s, "{") || span(p.s, 0) != len(p.s) {
		return reading{verdict: s.atEnd(no)}
	}
	return s.all([]found{f}, true)
}

// readPythonTag reads Llama's <|python_tag|> with an object or f.call(a=1).
func readPythonTag(s *scanner, held string) reading {
	body := strings.TrimSpace(held[len("<|python_tag|>"):])
	if strings.HasPrefix(body, "{") || strings.HasPrefix(body, "[{") {
		calls, rest, ok := objects(body, false)
		return s.orWait(s.all(calls, ok && rest == ""))
	}
	p := python{strings.TrimSuffix(strings.TrimPrefix(body, "["), "]")}
	calls, ok := p.calls()
	return s.orWait(s.all(calls, ok && strings.TrimSpace(p.s) == ""))
}

// DeepSeek's marks, without their brackets.
const (
	beginCalls = "tool▁calls▁begin"
	endCalls   = "tool▁calls▁end"
	beginCall  = "tool▁call▁begin"
	endCall    = "tool▁call▁end"
	separator  = "tool▁sep"
)

// tokens spell marks as the tokeniser does, and as converted models do: in plain letters, with
// spaces or with a backslash.
func tokens(marks ...string) []string {
	var out []string
	for _, m := range marks {
		for _, joint := range []string{"▁", "_", " ", `\_`} {
			spelled := strings.ReplaceAll(m, "▁", joint)
			out = append(out, "<｜"+spelled+"｜>", "<|"+spelled+"|>")
		}
	}
	return out
}

// cutToken removes a mark at the start, in either spelling.
func cutToken(text, mark string) (string, bool) {
	text = strings.TrimLeft(text, space)
	for _, t := range tokens(mark) {
		if rest, ok := strings.CutPrefix(text, t); ok {
			return rest, true
		}
	}
	return text, false
}

// splitToken cuts at the first mark, in either spelling.
func splitToken(text, mark string) (before, after string, ok bool) {
	at, length := len(text), 0
	for _, t := range tokens(mark) {
		if i := strings.Index(text, t); i >= 0 && i < at {
			at, length = i, len(t)
		}
	}
	return text[:at], text[at+length:], length > 0
}

// readDeepSeek reads calls between marks. Without the outer ones, one call is the block; Kimi's
// then opens alike.
func readDeepSeek(s *scanner, held string) reading {
	if f, rest, ok := kimi(held); ok && rest == "" {
		return s.all([]found{f}, true)
	}
	body, outer := cutToken(held, beginCalls)
	var calls []found
	for {
		if rest, ok := cutToken(body, endCalls); ok && outer {
			return s.all(calls, rest == "")
		}
		if strings.TrimSpace(body) == "" && len(calls) > 0 && (!outer || s.ended) {
			return s.all(calls, true)
		}
		f, rest, ok := s.deepSeek(body)
		if !ok {
			return reading{verdict: s.atEnd(no)}
		}
		calls, body = append(calls, f), rest
	}
}

// deepSeek reads one call: NAME sep JSON, or function sep NAME and JSON in a fence.
func (s *scanner) deepSeek(text string) (f found, rest string, ok bool) {
	if text, ok = cutToken(text, beginCall); !ok {
		return f, text, false
	}
	kind, body, ok := splitToken(text, separator)
	if !ok {
		return f, text, false
	}
	f.name = strings.TrimSpace(kind)
	if f.name == "function" && !strings.HasPrefix(strings.TrimLeft(body, space), "<steptml:") {
		var name string
		name, body, _ = strings.Cut(body, "\n")
		f.name = strings.TrimSpace(name)
	}
	body = strings.TrimLeft(body, space)
	if f.name == "" || strings.HasPrefix(body, "<steptml:invoke ") {
		return s.stepCall(body)
	}
	body, fenced := strings.CutPrefix(body, "```json")
	body = strings.TrimLeft(body, space)
	if !strings.HasPrefix(body, "{") {
		return f, body, false
	}
	end := span(body, 0)
	if end < 0 {
		return f, body, false
	}
	f.arguments, body = body[:end], strings.TrimLeft(body[end:], space)
	if fenced {
		if body, ok = strings.CutPrefix(body, "```"); !ok {
			return f, body, false
		}
	}
	body, ok = cutToken(body, endCall)
	return f, body, ok
}

// stepCall reads the tags that Step has between DeepSeek's marks.
func (s *scanner) stepCall(body string) (f found, rest string, ok bool) {
	if f, rest, ok = s.invoke(body); !ok {
		return f, body, false
	}
	rest, ok = cutToken(rest, endCall)
	return f, rest, ok
}

// Kimi's marks. The outer ones come in two spellings.
const (
	kimiBegin = "<|tool_calls_section_begin|>"
	kimiEnd   = "<|tool_calls_section_end|>"
	kimiOne   = "<|tool_call_begin|>"
	kimiArgs  = "<|tool_call_argument_begin|>"
)

func kimiOpens() []string {
	return []string{kimiBegin, "<|tool_call_section_begin|>"}
}

func kimiCloses() []string {
	return []string{kimiEnd, "<|tool_call_section_end|>"}
}

// readKimi reads a section of calls. Its end may be missing at the end of the message: each call
// ends by itself.
func readKimi(s *scanner, held string) reading {
	body, whole := "", false
	for i, open := range kimiOpens() {
		if rest, ok := strings.CutPrefix(held, open); ok {
			body, whole = strings.CutSuffix(rest, kimiCloses()[i])
		}
	}
	if !whole && !s.ended {
		return reading{verdict: wait}
	}
	var calls []found
	for body = strings.TrimSpace(body); body != ""; body = strings.TrimSpace(body) {
		f, rest, ok := kimi(body)
		if !ok {
			return reading{verdict: s.atEnd(no)}
		}
		calls, body = append(calls, f), rest
	}
	return s.all(calls, true)
}

// kimi reads <|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>JSON<|tool_call_end|>.
func kimi(text string) (f found, rest string, ok bool) {
	text, begun := strings.CutPrefix(text, kimiOne)
	id, rest, parted := strings.Cut(text, kimiArgs)
	rest = strings.TrimLeft(rest, space)
	end := span(rest, 0)
	if !begun || !parted || end < 0 {
		return f, rest, false
	}
	f.name, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(id), "functions."), ":")
	f.arguments = rest[:end]
	rest, ok = strings.CutPrefix(strings.TrimLeft(rest[end:], space), "<|tool_call_end|>")
	return f, rest, ok
}

// harmonyEnds are the marks at which a channel may end, or its header does.
func harmonyEnds() []string {
	return []string{"<|message|>", "<|end|>", "<|call|>", "<|return|>", "<|start|>", "<|channel|>"}
}

// readHarmony reads one channel: thinking, a call, or the header of text.
func readHarmony(s *scanner, held string) reading {
	header, body, ok := strings.Cut(held, "<|message|>")
	if !ok {
		return reading{verdict: s.atEnd(no)}
	}
	before, after, _ := strings.Cut(header, "<|channel|>")
	channel, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	channel, _, _ = strings.Cut(channel, "<")
	to := recipient(before + " " + after)
	if to == "" && (channel == "final" || channel == "commentary") {
		return reading{verdict: yes, rest: len(body)}
	}
	body, rest, ended := channelEnd(body)
	switch {
	case to != "":
		text := strings.TrimSpace(body)
		if !strings.HasPrefix(text, "{") || span(text, 0) != len(text) {
			return reading{verdict: s.atEnd(no)}
		}
		if !ended && !s.ended {
			return reading{verdict: wait}
		}
		r := s.all([]found{{to, text}}, true)
		r.rest = rest
		return r
	case channel == "analysis" && (ended || s.ended):
		return reading{verdict: yes, reasoning: body, rest: rest}
	case channel != "analysis":
		return reading{verdict: no, rest: len(body)}
	}
	return reading{}
}

// recipient is the function that a header names.
func recipient(header string) string {
	_, to, ok := strings.Cut(header, "to=")
	if !ok {
		return ""
	}
	end := strings.IndexAny(to, " <\t\r\n")
	if end < 0 {
		end = len(to)
	}
	return strings.TrimPrefix(to[:end], "functions.")
}

// channelEnd cuts the mark at which a channel ends; one that begins the next stays in the rest.
func channelEnd(body string) (text string, rest int, ended bool) {
	for _, mark := range []string{"<|end|>", "<|call|>", "<|return|>"} {
		if text, ok := strings.CutSuffix(body, mark); ok {
			return text, 0, true
		}
	}
	i := slices.IndexFunc([]string{"<|start|>", "<|channel|>"}, func(m string) bool { return strings.HasSuffix(body, m) })
	if i < 0 {
		return body, 0, false
	}
	mark := []string{"<|start|>", "<|channel|>"}[i]
	return strings.TrimSuffix(body, mark), len(mark), true
}
