package textparse

import (
	"encoding/json"
	"strings"
)

// Gemma 4 writes <|tool_call>call:NAME{key:<|"|>text<|"|>,n:1}<tool_call|>, and FunctionGemma the
// same between <start_function_call> and <end_function_call>, with <escape> around texts.

func gemmaOpens() []string  { return []string{"<|tool_call>", "<start_function_call>"} }
func gemmaCloses() []string { return []string{"<tool_call|>", "<end_function_call>"} }

func probeGemma(s *scanner, rest string) bool {
	rest = strings.TrimLeft(rest, space)
	after, begun := strings.CutPrefix(rest, "call:")
	if !begun {
		return strings.HasPrefix("call:", rest)
	}
	name, _, whole := strings.Cut(after, "{")
	name = strings.TrimSpace(name)
	return whole && s.tools[name] != nil || !whole && s.tools.starts(name)
}

func readGemma(s *scanner, held string) reading {
	body, whole := held, false
	for i, open := range gemmaOpens() {
		if rest, ok := strings.CutPrefix(held, open); ok {
			body, whole = strings.CutSuffix(rest, gemmaCloses()[i])
		}
	}
	if !whole && !s.ended {
		return reading{}
	}
	after, begun := strings.CutPrefix(strings.TrimSpace(body), "call:")
	name, _, open := strings.Cut(after, "{")
	if !begun || !open {
		return reading{verdict: s.atEnd(no)}
	}
	g := gemma{after[len(name):]}
	arguments, ok := g.object(0)
	return s.orWait(s.all([]found{{strings.TrimSpace(name), arguments}}, ok && strings.TrimSpace(g.s) == ""))
}

// gemma reads values as Gemma writes them, and makes JSON of them.
type gemma struct{ s string }

// gemmaDepth bounds objects and lists in one another.
const gemmaDepth = 40

func (g *gemma) take(token string) bool {
	g.s = strings.TrimLeft(g.s, space)
	rest, ok := strings.CutPrefix(g.s, token)
	if ok {
		g.s = rest
	}
	return ok
}

// object reads {key:value,…}; a key said twice is refused.
func (g *gemma) object(depth int) (string, bool) {
	if depth > gemmaDepth || !g.take("{") {
		return "", false
	}
	var members []string
	seen := map[string]bool{}
	for !g.take("}") {
		if len(members) > 0 && !g.take(",") {
			return "", false
		}
		key, ok := g.key()
		if !ok || seen[key] || !g.take(":") {
			return "", false
		}
		value, ok := g.value(depth + 1)
		if !ok {
			return "", false
		}
		seen[key] = true
		name, _ := encode(key) // a string can always be encoded
		members = append(members, name+":"+value)
	}
	return "{" + strings.Join(members, ",") + "}", true
}

func (g *gemma) key() (string, bool) {
	if text, ok := g.text(); ok {
		return text, true
	}
	g.s = strings.TrimLeft(g.s, space+`"`)
	n := strings.IndexAny(g.s, ":{},<")
	if n <= 0 {
		return "", false
	}
	key := strings.TrimRight(g.s[:n], space+`"`)
	g.s = g.s[n:]
	return key, key != ""
}

// text reads a text between two marks of one kind.
func (g *gemma) text() (string, bool) {
	for _, mark := range []string{`<|"|>`, "<escape>"} {
		if g.take(mark) {
			text, rest, closed := strings.Cut(g.s, mark)
			g.s = rest
			return text, closed
		}
	}
	return "", false
}

func (g *gemma) value(depth int) (string, bool) {
	g.s = strings.TrimLeft(g.s, space)
	switch {
	case g.s == "":
		return "", false
	case g.s[0] == '{':
		return g.object(depth)
	case g.s[0] == '[':
		return g.list(depth)
	case g.s[0] == '<':
		text, ok := g.text()
		raw, _ := encode(text) // a string can always be encoded
		return raw, ok
	}
	raw, rest, ok := value(g.s)
	if !ok || !json.Valid([]byte(raw)) {
		return "", false
	}
	g.s = rest
	return raw, true
}

func (g *gemma) list(depth int) (string, bool) {
	if depth > gemmaDepth || !g.take("[") {
		return "", false
	}
	var items []string
	for !g.take("]") {
		if len(items) > 0 && !g.take(",") {
			return "", false
		}
		item, ok := g.value(depth + 1)
		if !ok {
			return "", false
		}
		items = append(items, item)
	}
	return "[" + strings.Join(items, ",") + "]", true
}
