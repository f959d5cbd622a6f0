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

// words names the description of a tool: the brief one where that is asked for.
func (f files) words(name string) string {
	if f.brief {
		return name + "_brief"
	}
	return name
}

// usual is the compact schema of a brief tool, with the named arguments alone; nil, which offers all, for any
// other.
func usual[Args any](brief bool, names ...string) json.RawMessage {
	if !brief {
		return nil
	}
	whole, err := tool.SchemaOf[Args]()
	if err != nil {
		return nil // registration says what is wrong with them
	}
	var s struct {
		Properties map[string]json.RawMessage
		Required   json.RawMessage
	}
	if err := json.Unmarshal(whole, &s); err != nil {
		return nil
	}
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", name, s.Properties[name])
	}
	b.WriteByte('}')
	if len(s.Required) > 0 {
		fmt.Fprintf(&b, `,"required":%s`, s.Required)
	}
	b.WriteString(`,"additionalProperties":false}`)
	return b.Bytes()
}
