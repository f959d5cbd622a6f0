package schema

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// longest limits a name or schema repeated in a message to the model, in runes.
const longest = 300

func short(s string) string { return Cut(s, longest) }

// Cut limits a text to be repeated in a message, in runes.
func Cut(s string, runes int) string {
	if len(s) <= runes || utf8.RuneCountInString(s) <= runes {
		return s
	}
	return string([]rune(s[:min(len(s), runes*utf8.UTFMax)])[:runes]) + "…"
}

func typeMatches(want any, value any) bool {
	switch w := want.(type) {
	case string:
		return oneType(w, value)
	case []any:
		return slices.ContainsFunc(w, func(t any) bool { s, ok := t.(string); return ok && oneType(s, value) })
	}
	return true
}

func oneType(want string, value any) bool {
	got := TypeOf(value)
	return got == want || (want == "number" && got == "integer")
}

func wanted(want any) string {
	words := make([]string, 0, 1)
	for _, w := range list(want) {
		words = append(words, fmt.Sprint(w))
	}
	if len(words) == 0 {
		return fmt.Sprint(want)
	}
	return strings.Join(words, " or ")
}

// TypeOf returns a decoded value's JSON type. A number without a fraction is an integer in any
// notation (JSON Schema 2020-12, validation §6.1.1).
func TypeOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// Pointer escapes one step of a JSON pointer (RFC 6901), and cuts huge names.
func Pointer(name string) string {
	return pointerEscapes.Replace(Cut(name, 80))
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")
