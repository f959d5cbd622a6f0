package textparse

import (
	"slices"
	"strings"
)

// readBare reads Llama's {"name": ..., "parameters": ...} without any tags.
func readBare(s *scanner, held string) reading {
	calls, rest, ok := objects(held, true)
	return s.all(calls, ok && rest == "")
}

// readList reads Llama's [f(a=1), g()], or a list of objects.
func readList(s *scanner, held string) reading {
	inner := strings.TrimLeft(held[1:], space)
	if strings.HasPrefix(inner, "{") {
		calls, rest, ok := objects(held, true)
		return s.all(calls, ok && rest == "")
	}
	p := python{inner}
	calls, ok := p.calls()
	p.take(",")
	return s.all(calls, ok && p.take("]") && p.s == "")
}

// languages of a fence that can hold calls.
func languages() []string { return []string{"", "json", "tool_call", "tool_calls", "tool_code"} }

// readFence reads a fence that holds nothing but calls.
func readFence(s *scanner, held string) reading {
	body, open := strings.CutSuffix(held[3:], "```")
	language, body, _ := strings.Cut(body, "\n")
	body = strings.TrimSpace(body)
	if !open || body == "" {
		return reading{verdict: s.atEnd(no)}
	}
	if strings.TrimSpace(language) == "tool_code" {
		if inner, printed := strings.CutPrefix(body, "print("); printed {
			body = strings.TrimSuffix(inner, ")")
		}
		calls, ok := pythonic(body)
		return s.orWait(s.all(calls, ok))
	}
	calls, rest, ok := objects(body, true)
	return s.orWait(s.all(calls, ok && rest == ""))
}

// orWait reads on where a refused block may only hold its closing mark inside a value.
func (s *scanner) orWait(r reading) reading {
	if r.verdict == no {
		r.verdict = s.atEnd(no)
	}
	return r
}

// atEnd is a verdict that can be given only at the end of the message; before it, the form reads
// on.
func (s *scanner) atEnd(v verdict) verdict {
	if s.ended {
		return v
	}
	return wait
}

// probeFence judges a fence's language and the beginning of what it holds.
func probeFence(s *scanner, rest string) bool {
	language, body, whole := strings.Cut(rest, "\n")
	language = strings.TrimRight(language, " \r")
	if !whole {
		for _, l := range languages() {
			if strings.HasPrefix(l, language) {
				return true
			}
		}
		return false
	}
	if !slices.Contains(languages(), language) {
		return false
	}
	body = strings.TrimLeft(body, space)
	switch {
	case body == "":
		return true
	case language == "tool_code":
		return s.call(strings.TrimPrefix(strings.TrimLeft(body, "["), "print("))
	case body[0] == '[':
		return probeObjects(s, body[1:])
	}
	return probeObjects(s, body)
}

// call reports whether the beginning of a pythonic call can be one of an offered tool.
func (s *scanner) call(text string) bool {
	p := python{text}
	name := p.word(true)
	if p.s == "" {
		return strings.HasPrefix("print(", text) || s.tools.starts(strings.TrimSuffix(name, ".call"))
	}
	return s.tools.named(strings.TrimSuffix(name, ".call")) != nil && strings.HasPrefix(p.s, "(")
}

func probeList(s *scanner, rest string) bool {
	rest = strings.TrimLeft(rest, space)
	return rest == "" || rest[0] == '{' && probeObjects(s, rest) || rest[0] != '{' && s.call(rest)
}

// probeObjects judges text in which an object must begin.
func probeObjects(s *scanner, rest string) bool {
	rest = strings.TrimLeft(rest, space)
	return rest == "" || rest[0] == '{' && probeObject(s, rest[1:])
}

// probeObject judges the first key of an object, and the name when that is the key.
func probeObject(s *scanner, rest string) bool {
	rest = strings.TrimLeft(rest, space)
	if rest == "" {
		return true
	}
	if rest[0] != '"' && rest[0] != '\'' {
		return false
	}
	key, after, whole := quoted(rest)
	if !whole {
		return keyStarts(rest[1:])
	}
	after = strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(after, space), ":"), space)
	switch {
	case !keyStarts(key):
		return false
	case !slices.Contains(nameKeys(), key) || after == "" || after[0] == '{':
		return true
	}
	name, _, whole := quoted(after)
	if whole {
		return s.tools.named(name) != nil
	}
	return (after[0] == '"' || after[0] == '\'') && s.tools.starts(after[1:])
}

// keyStarts reports whether a key of a call begins so.
func keyStarts(prefix string) bool {
	for _, list := range [][]string{nameKeys(), argsKeys(), sideKeys(), {"tool_call", "tool_calls", "function_call"}} {
		for _, key := range list {
			if strings.HasPrefix(key, prefix) {
				return true
			}
		}
	}
	return false
}
