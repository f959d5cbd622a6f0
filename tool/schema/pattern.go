package schema

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
)

// readPattern returns schemas equivalent to an ECMA-262 regular expression in RE2 syntax; nil if
// RE2 reads the original. Lookaheads right after ^ become separate schemas; other syntax missing in
// RE2 is accepted and ignored.
func readPattern(s string) ([]any, error) {
	if _, err := regexp.Compile(s); err == nil {
		return nil, nil
	}
	// Escapes, and the class of all characters.
	ecma := regexp.MustCompile(`\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]+\}|\\.|\[\^\]`)
	s = ecma.ReplaceAllStringFunc(s, func(part string) string {
		if part == "[^]" {
			return `[\s\S]`
		} else if len(part) > 2 {
			return `\x{` + strings.Trim(part[2:], "{}") + "}"
		}
		return part
	})
	// A leading lookahead without groups, in a pattern without alternatives.
	lookahead := regexp.MustCompile(`^\^\(\?([=!])((?:[^()\\|[]|\\.|\[(?:[^\]\\]|\\.)*\])*)\)`)
	all := []any{}
	for look := lookahead.FindStringSubmatch(s); look != nil; look = lookahead.FindStringSubmatch(s) {
		s = "^" + s[len(look[0]):]
		one := map[string]any{"type": "string", "pattern": "^(?:" + look[2] + ")"}
		if look[1] == "!" {
			one = map[string]any{"not": one}
		}
		all = append(all, one)
	}
	_, err := regexp.Compile(s)
	var fault *syntax.Error
	if errors.As(err, &fault) && (fault.Code == syntax.ErrInvalidPerlOp || fault.Code == syntax.ErrInvalidEscape || fault.Code == syntax.ErrInvalidRepeatSize) {
		return all, nil
	}
	return append(all, map[string]any{"pattern": s}), err
}

// readNames returns patternProperties in RE2 syntax. A pattern that RE2 lacks becomes a wider one,
// whose properties are not checked.
func readNames(patterns map[string]any) map[string]any {
	out := map[string]any{}
	for name, child := range patterns {
		if parts, err := readPattern(name); err == nil && parts != nil {
			last, _ := append([]any{nil}, parts...)[len(parts)].(map[string]any)
			if name, _ = last["pattern"].(string); len(parts) != 1 || len(last) != 1 || name == "" {
				child = true
			}
		}
		if before, twice := out[name]; twice {
			child = map[string]any{"allOf": []any{before, child}}
		}
		out[name] = child
	}
	return out
}
