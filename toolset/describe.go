package toolset

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"adze/tool"
)

//go:embed *.md
var descriptions embed.FS

// limits are a description's own variables: {"lines": 2000} fills ${lines}.
type limits map[string]any

// describe reads the description beside a tool's code and fills in its limits. The registry fills
// ${workspace}, ${directory} and ${cwd}, and refuses unknown ones.
func describe(name string, values ...limits) string {
	raw, err := descriptions.ReadFile(name + ".md")
	if err != nil {
		panic(fmt.Sprintf("toolset: %s.md is missing beside %s.go", name, name))
	}
	text := string(raw)
	for _, set := range values {
		for variable, value := range set { // numbers only: no value contains a variable
			text = strings.ReplaceAll(text, "${"+variable+"}", fmt.Sprint(value))
		}
	}
	return strings.TrimSpace(text)
}

// words returns the name of a tool's description: brief or full.
func (f files) words(name string) string {
	if f.brief {
		return name + "_brief"
	}
	return name
}

// unlessBrief returns the hint, which names something hidden in a brief tool, or "" for one.
func (f files) unlessBrief(hint string) string {
	if f.brief {
		return ""
	}
	return hint
}

// compactSchema returns a brief tool's compact schema: only the named arguments, each with a short
// description after a colon or none, and without bounds, which the full schema has. For other tools
// it returns nil, which offers everything.
func compactSchema[Args any](brief bool, arguments ...string) json.RawMessage {
	if !brief {
		return nil
	}
	whole, err := tool.SchemaOf[Args]()
	if err != nil {
		return nil // registration reports errors
	}
	var s struct {
		Properties map[string]struct{ Type string }
		Required   json.RawMessage
	}
	if err := json.Unmarshal(whole, &s); err != nil {
		return nil
	}
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	for i, argument := range arguments {
		if i > 0 {
			b.WriteByte(',')
		}
		name, words, said := strings.Cut(argument, ": ")
		fmt.Fprintf(&b, `%q:{"type":%q`, name, s.Properties[name].Type)
		if said {
			fmt.Fprintf(&b, `,"description":%q`, words)
		}
		b.WriteByte('}')
	}
	b.WriteByte('}')
	if len(s.Required) > 0 {
		fmt.Fprintf(&b, `,"required":%s`, s.Required)
	}
	b.WriteByte('}')
	return b.Bytes()
}
