package textcall

import "strings"

// Phi-4 and Granite 3 write a list of objects behind <|tool_call|>, older Phi behind functools, and Command
// between <|START_ACTION|> and <|END_ACTION|>, or in a fence behind Action:.

// words begin markup although they are letters.
func words() []string { return []string{"functools", "Action:"} }

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

// readAction reads Command's list. Its end may be missing at the end of the message: it is a stop token.
func readAction(s *scanner, held string) reading {
	body, whole := strings.CutSuffix(held, endAction)
	if !whole && !s.ended {
		return reading{}
	}
	return readListed("<|START_ACTION|>")(s, body)
}

// probeAction judges what follows Action: a fence, as Command R has it; as plain words it is text.
func probeAction(s *scanner, rest string) bool {
	rest = strings.TrimLeft(rest, space)
	after, fenced := strings.CutPrefix(rest, "```")
	return fenced && probeFence(s, after) || strings.HasPrefix("```", rest)
}

func readActionFence(s *scanner, held string) reading {
	fence := strings.TrimLeft(held[len("Action:"):], space)
	if len(fence) <= 3 || !strings.HasPrefix(fence, "```") {
		return reading{verdict: s.atEnd(no)}
	}
	return readFence(s, fence)
}
