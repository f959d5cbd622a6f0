package tool

// The decoder of encoding/json is laxer about names than a schema: it takes "PATH" for path, and
// merges two objects of one name. Arguments must be what was validated, so both are refused.

// keysWritten counts the names in a JSON text, which is known to be valid: one colon each, outside
// strings.
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

// measure counts the names in a decoded value and how deep it nests; names that were written twice
// are there once.
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
