package textparse

import "strings"

// gigaChat is GigaChat's mark before an object with the name in it.
const gigaChat = "function call<|role_sep|>"

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
