package laxjson

import "strings"

// behind checks the text after a complete value and returns the intended value, or false if the
// text has its own meaning.
func behind(value *Tree, rest string, did *Steps) (*Tree, bool) {
	if value.Kind != Object {
		return nil, false
	}
	rest = strings.TrimSpace(rest)
	if left := withoutTokens(rest); left != rest {
		did.Add(stepTokens)
		rest = left
	}
	switch {
	case rest == "":
	case strings.Trim(rest, "}] \t\r\n") == "":
		did.Add(stepClosers)
	case rest[0] == '{':
		r := reader{text: rest, did: did}
		again, ok := r.value()
		if !ok || len(value.Names) > 0 && again.String() != value.String() {
			return nil, false
		}
		did.Add(stepTwice)
		return behind(again, rest[r.at:], did)
	default:
		return nil, false
	}
	return value, true
}

// withoutTokens removes leaked marks with which models end a call or a turn: <|…|> with any name,
// and those that look like tags.
func withoutTokens(rest string) string {
	for {
		rest = strings.TrimSpace(rest)
		n := token(rest)
		if n == 0 {
			return rest
		}
		rest = rest[n:]
	}
}

// maxToken limits a mark's name, in bytes.
const maxToken = 40

// token returns the length of the mark at the start of a text, or 0.
func token(text string) int {
	for _, tag := range []string{"</tool_call>", "</tool_calls>", "</function_call>", "</function>", "</arguments>", "[/TOOL_CALLS]", "</s>", "<end_of_turn>"} {
		if strings.HasPrefix(text, tag) {
			return len(tag)
		}
	}
	for _, edge := range []string{"|", "｜"} {
		inner, open := strings.CutPrefix(text, "<"+edge)
		name, _, closed := strings.Cut(inner, edge+">")
		if open && closed && name != "" && len(name) <= maxToken && !strings.ContainsAny(name, " <>\"{}\n|") {
			return len("<"+edge) + len(name) + len(edge+">")
		}
	}
	return 0
}
