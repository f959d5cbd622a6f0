package tool

import "strings"

// PlainName replaces all but ASCII letters, digits, _ and - by _, as in the names of MCP tools for
// models and rules. An empty name becomes _.
func PlainName(s string) string {
	out := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, s)
	if out == "" {
		return "_"
	}
	return out
}

// encoding/json is laxer about names than a schema: it takes "PATH" for path and merges duplicate
// objects. Arguments must equal their validated form, so both are refused.

// keysWritten counts the names in a valid JSON text by the colons outside strings.
func keysWritten(text string) int {
	n, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case c == ':' && !inString:
			n++
		}
	}
	return n
}

// measure counts a decoded value's names and its depth. Duplicate names count once.
func measure(value any) (names, depth int) {
	var children []any
	switch v := value.(type) {
	case map[string]any:
		names = len(v)
		for _, child := range v {
			children = append(children, child)
		}
	case []any:
		children = v
	default:
		return 0, 0
	}
	for _, child := range children {
		n, d := measure(child)
		names, depth = names+n, max(depth, d)
	}
	return names, depth + 1
}
