package notebook

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Bounds for a cell's outputs.
const (
	outputLines = 20
	outputBytes = 2 << 10
)

type output struct {
	Kind      string                     `json:"output_type"`
	Text      lines                      `json:"text"`
	Data      map[string]json.RawMessage `json:"data"`
	Name      string                     `json:"ename"`
	Value     string                     `json:"evalue"`
	Traceback []string                   `json:"traceback"`
}

// escapes matches terminal control sequences, which color tracebacks.
var escapes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]") })

// shown returns the start of a cell's output, each line prefixed.
func shown(outputs []output) string {
	var all strings.Builder
	for _, o := range outputs {
		text := o.text()
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		all.WriteString(text)
	}
	list := strings.SplitAfter(strings.TrimSuffix(all.String(), "\n"), "\n")
	var b strings.Builder
	for i, line := range list {
		line = strings.TrimSuffix(line, "\n")
		if i == outputLines || b.Len()+len(line) > outputBytes {
			fmt.Fprintf(&b, "#> (%d more lines of output)\n", len(list)-i)
			break
		}
		if all.Len() > 0 {
			b.WriteString("#> " + line + "\n")
		}
	}
	return b.String()
}

func (o output) text() string {
	switch {
	case o.Kind == "error" && len(o.Traceback) > 0:
		return escapes().ReplaceAllString(strings.Join(o.Traceback, "\n"), "")
	case o.Kind == "error":
		return o.Name + ": " + o.Value
	case o.Kind == "stream":
		return escapes().ReplaceAllString(string(o.Text), "")
	}
	var pictures []string
	for media, raw := range o.Data {
		if strings.HasPrefix(media, "image/") {
			pictures = append(pictures, fmt.Sprintf("[%s, %d bytes]", media, len(raw)*3/4))
		}
	}
	slices.Sort(pictures)
	var plain lines
	if raw, ok := o.Data["text/plain"]; ok && json.Unmarshal(raw, &plain) != nil {
		plain = ""
	}
	return strings.Join(append([]string{string(plain)}, pictures...), "\n")
}
