package toolset

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.md
var descriptions embed.FS

// limits are the values of a description's own variables: {"lines": 2000} fills ${lines}.
type limits map[string]any

// describe reads the description beside a tool's code and fills in its limits. ${workspace}, ${directory}
// and ${cwd} are filled by the registry, which refuses what is still unknown then.
func describe(name string, values ...limits) string {
	raw, err := descriptions.ReadFile(name + ".md")
	if err != nil {
		panic(fmt.Sprintf("toolset: %s.md is missing beside %s.go", name, name))
	}
	text := string(raw)
	for _, set := range values {
		for variable, value := range set { // the values are numbers: none brings a variable in
			text = strings.ReplaceAll(text, "${"+variable+"}", fmt.Sprint(value))
		}
	}
	return strings.TrimSpace(text)
}
