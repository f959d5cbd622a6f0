package discovery

import (
	"fmt"
	"maps"
	"slices"

	"github.com/BurntSushi/toml"

	"adze/internal/text"
)

// parseTOML reads the texts at the top of a TOML file, which is all that a command of Gemini has:
// prompt, which is its body, and description.
func parseTOML(file string) (Front, string) {
	var top map[string]any
	if _, err := toml.Decode(text.Plain([]byte(file)), &top); err != nil {
		return Front{Problem: fmt.Sprintf("it is no TOML: %v", err)}, ""
	}
	var front Front
	for _, key := range slices.Sorted(maps.Keys(top)) {
		if value, ok := top[key].(string); ok {
			front.Fields = append(front.Fields, Field{Key: key, Text: value, Quoted: true})
		}
	}
	return front, front.Text("prompt")
}
