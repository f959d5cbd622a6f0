package export

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
	"time"
)

// The page has no script, one sheet of style, and a policy that lets nothing be fetched: it is the
// same in ten years, and tells nobody that it was opened. html/template puts every text where it
// stands; package html is trusted with nothing but what prose.go wrote, which escapes on its own.

//go:embed page.html
var pageText string

// HTML is the form to look at.
func (d *Document) HTML() ([]byte, error) {
	t, err := template.New("page").Funcs(template.FuncMap{
		"facts": (*Document).facts, "heading": Message.heading, "prose": proseHTML, "remarks": Message.remarks, "nothing": func() remarks { return nil }, "lastText": Message.lastText, "source": source, "lines": diffLines,
		"rows": rows, "prompts": (*Document).prompts, "count": func(i int) int { return i + 1 }, "bytes": func(b []byte) int { return len(b) },
		"stamp": func(t time.Time) string { return t.UTC().Format(stamp) }, "told": told, "about": Call.about, "bad": Call.bad, "orDash": orDash,
	}).Parse(pageText)
	if err != nil {
		return nil, fmt.Errorf("the page's own template: %w", err)
	}
	var b bytes.Buffer
	err = t.Execute(&b, d)
	return b.Bytes(), err
}

// source is a picture as an address; its type is what its content says, so that nothing else is
// ever one.
func source(p *Picture) template.URL {
	kind := pictureType(p.Data)
	if kind == "" {
		return "data:,"
	}
	return template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(p.Data))
}

func told(v interface{ told() string }) string { return v.told() }

// prompt is a line of the table of contents.
type prompt struct {
	Number int // of the message, from 1
	Text   string
}

func (d *Document) prompts() (out []prompt) {
	for i, m := range d.Messages {
		if m.From != Person || m.Own {
			continue
		}
		for _, p := range m.Parts {
			if p.Text != "" {
				line, _, _ := strings.Cut(strings.TrimSpace(p.Text), "\n")
				out = append(out, prompt{i + 1, line})
				break
			}
		}
	}
	return out
}

// row is a field of a call.
type row struct{ Name, Value string }

// rows are the fields of an object, in the order of its text.
func rows(raw json.RawMessage) (out []row) {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return nil
	}
	for _, name := range sortedNames(object) {
		value := string(object[name])
		var text string
		if json.Unmarshal(object[name], &text) == nil {
			value = text
		}
		out = append(out, row{name, value})
	}
	return out
}

// about is what a call was about, for its closed line: the first of the fields that say so.
func (c Call) about() string {
	fields := rows(c.Arguments)
	for _, name := range []string{"command", "path", "pattern", "query", "url", "description"} {
		for _, f := range fields {
			if f.Name == name {
				line, _, _ := strings.Cut(f.Value, "\n")
				return line
			}
		}
	}
	return ""
}

func (c Call) bad() bool { return c.Status != "completed" }

// diffLine is a line of a difference, and the class that colours it.
type diffLine struct{ Class, Text string }

func diffLines(text string) (out []diffLine) {
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		class := ""
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
			class = "file"
		case strings.HasPrefix(line, "@@"):
			class = "at"
		case strings.HasPrefix(line, "+"):
			class = "add"
		case strings.HasPrefix(line, "-"):
			class = "del"
		}
		out = append(out, diffLine{class, line})
	}
	return out
}
