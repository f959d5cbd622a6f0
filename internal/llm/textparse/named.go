package textparse

import "strings"

// Marks before a name and an object of arguments, which ends by itself.
const (
	functionary = ">>>"                       // Functionary 3.2: >>>NAME, and the object on the next line
	qwenAgent   = "✿FUNCTION✿:"               // Qwen-Agent: NAME, and the object behind ✿ARGS✿:
	gigaChat    = "function call<|role_sep|>" // GigaChat: an object with the name in it
)

// readNamed reads a mark, a name and an object.
func readNamed(mark string) func(s *scanner, held string) reading {
	return func(s *scanner, held string) reading {
		name, rest, _ := strings.Cut(strings.TrimLeft(held[len(mark):], space), "\n")
		name, after, inline := strings.Cut(name, "{")
		if inline {
			rest = "{" + after + "\n" + rest
		}
		rest = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), "✿ARGS✿:"))
		if !strings.HasPrefix(rest, "{") || span(rest, 0) != len(rest) {
			return reading{verdict: s.atEnd(no)}
		}
		return s.all([]found{{strings.TrimSpace(name), rest}}, true)
	}
}

// probeNamed judges the name.
func probeNamed(s *scanner, rest string) bool {
	name, _, whole := strings.Cut(strings.TrimLeft(rest, space), "\n")
	if at := strings.IndexByte(name, '{'); at >= 0 {
		name, whole = name[:at], true
	}
	name = strings.TrimSpace(name)
	return s.tools[name] != nil || !whole && s.tools.starts(name)
}

// Solar writes <|tool_call:begin|>ID<|tool_call:name|>NAME<|tool_call:args|>JSON<|tool_call:end|>.
const (
	solarAll  = "<|tool_calls|>"
	solarOpen = "<|tool_call:begin|>"
	solarName = "<|tool_call:name|>"
	solarArgs = "<|tool_call:args|>"
	solarEnd  = "<|tool_call:end|>"
)

func readSolar(s *scanner, held string) reading {
	body, closed := strings.CutSuffix(strings.TrimPrefix(held, solarAll)[len(solarOpen):], solarEnd)
	_, body, hasName := strings.Cut(body, solarName)
	name, arguments, hasArgs := strings.Cut(body, solarArgs)
	arguments = strings.TrimSpace(arguments)
	if !closed || !hasName || !hasArgs || !strings.HasPrefix(arguments, "{") || span(arguments, 0) != len(arguments) {
		return reading{verdict: s.atEnd(no)}
	}
	return s.all([]found{{strings.TrimSpace(name), arguments}}, true)
}
