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

// describe reads the description beside a tool's code and fills in its limits. ${workspace},
// ${directory} and ${cwd} are filled by the registry, which refuses what is still unknown then.
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

// unlessBrief is a hint that names what a brief tool does not show; nothing for one.
func (f files) unlessBrief(hint string) string {
	if f.brief {
		return ""
	}
	return hint
}

// usual is the compact schema of a brief tool: the named arguments alone, each with its few words
// behind a colon or none, and no bounds, which the whole schema holds. Nil, which offers all, for
// any other tool.
func usual[Args any](brief bool, arguments ...string) json.RawMessage {
	if !brief {
		return nil
	}
	whole, err := tool.SchemaOf[Args]()
	if err != nil {
		return nil // registration says what is wrong with them
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
