package textparse

import "strings"

// Phi-4 and Granite 3 write a list of objects behind <|tool_call|>, older Phi behind functools, and
// Command between <|START_ACTION|> and <|END_ACTION|>, or in a fence behind Action:.

// words begin markup although they are letters.
func words() []string { return []string{"functools", "Action:", gigaChat} }

func probeListed(s *scanner, rest string) bool {
	rest = strings.TrimLeft(rest, space)
	if rest == "" {
		return true
	}
	if rest[0] == '[' {
		return probeObjects(s, rest[1:])
	}
	return probeObjects(s, rest)
}

// readListed reads one object or a list of them behind any opening.
func readListed(open string) func(s *scanner, held string) reading {
	return func(s *scanner, held string) reading {
		body := strings.TrimSpace(held[len(open):])
		if body == "" {
			return reading{verdict: s.atEnd(no)}
		}
		calls, rest, ok := objects(body, false)
		return s.orWait(s.all(calls, ok && strings.TrimSpace(rest) == ""))
	}
}

const endAction = "<|END_ACTION|>"

// readAction reads Command's list. Its end may be missing at the end of the message: it is a stop
// token.
func readAction(s *scanner, held string) reading {
	body, whole := strings.CutSuffix(held, endAction)
	if !whole && !s.ended {
		return reading{}
	}
	return readListed("<|START_ACTION|>")(s, body)
}

// probeAction judges what follows Action: a fence, as Command R has it, or a name, as in ReAct; as
// plain words it is text.
func probeAction(s *scanner, rest string) bool {
	rest = strings.TrimLeft(rest, space)
	after, fenced := strings.CutPrefix(rest, "```")
	if fenced && probeFence(s, after) || strings.HasPrefix("```", rest) {
		return true
	}
	name, after, whole := strings.Cut(rest, "\n")
	name = strings.TrimSpace(name)
	if !whole {
		return s.tools.starts(name)
	}
	after = strings.TrimLeft(after, space)
	return s.tools.named(name) != nil && (strings.HasPrefix(actionInput, after) || strings.HasPrefix(after, actionInput))
}

const actionInput = "Action Input:"

// readActionForm reads Command's fence, or ReAct's name with an object behind Action Input.
func readActionForm(s *scanner, held string) reading {
	body := strings.TrimLeft(held[len("Action:"):], space)
	name, rest, _ := strings.Cut(body, "\n")
	if input, ok := strings.CutPrefix(strings.TrimLeft(rest, space), actionInput); ok {
		input = strings.TrimSpace(input)
		if !strings.HasPrefix(input, "{") || span(input, 0) != len(input) {
			return reading{verdict: s.atEnd(no)}
		}
		return s.all([]found{{strings.TrimSpace(name), input}}, true)
	}
	if len(body) <= 3 || !strings.HasPrefix(body, "```") {
		return reading{verdict: s.atEnd(no)}
	}
	return readFence(s, body)
}
