package textparse

import (
	"strings"

	"adze/tool/laxjson"
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
	return whole && s.tools.named(name) != nil || !whole && s.tools.starts(name)
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
	arguments, rest, ok := laxjson.Gemma(after[len(name):])
	f := found{name: strings.TrimSpace(name)}
	if ok {
		f.arguments = arguments.String()
	}
	return s.orWait(s.all([]found{f}, ok && strings.TrimSpace(rest) == ""))
}
