package textparse

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"adze/tool/laxjson"
)

// tagFamily describes a family's calls in tags. The expressions match at the start of a text; their
// groups are the name, or the key and whether the value is text.
type tagFamily struct {
	open, param *regexp.Regexp
	begin       string // plain beginning of open; empty for a call without an opening tag
	valueEnd    string // closes a value
	end         string // closes the call; if empty, the call ends with the text
	next        string // begins the next parameter
	tight       bool   // the template has no line breaks around values
}

// tagFamilies are those of Qwen-coder, DeepSeek and Claude, and GLM.
var tagFamilies = sync.OnceValue(func() (out []tagFamily) {
	at := func(pattern string) *regexp.Regexp { return regexp.MustCompile(`^\s*` + pattern) }
	out = append(out, tagFamily{
		open: at(`<function=["' ]*([^>"']*?)["' ]*>`), param: at(`<parameter=["' ]*([^>"']*?)["' ]*>`), begin: "<function=",
		valueEnd: "</parameter>", end: "</function>", next: "<parameter=",
	})
	for _, mark := range []string{"｜DSML｜", "|DSML|", ""} {
		m := regexp.QuoteMeta(mark)
		out = append(out, tagFamily{
			open: at(`<` + m + `invoke name=["' ]*([^>"']*?)["' ]*>`), param: at(`<` + m + `parameter name=["' ]*([^>"' ]*)["']?(?: string="(true|false)")?\s*>`),
			begin: "<" + mark + "invoke name=", valueEnd: "</" + mark + "parameter>", end: "</" + mark + "invoke>", next: "<" + mark + "parameter ", tight: true,
		})
	}
	return append(out, tagFamily{
		open: at(`([\w.-]+)`), param: at(`<arg_key>\s*([^<]*?)\s*</arg_key>\s*<arg_value>`), valueEnd: "</arg_value>", next: "<arg_key>", tight: true,
	})
})

// tags reads consecutive calls in tags to the end of the text.
func (s *scanner) tags(text string) (calls []blockCall, ok bool) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		f, rest, ok := s.tagged(text)
		if !ok {
			return nil, false
		}
		calls, text = append(calls, f), rest
	}
	return calls, len(calls) > 0
}

func (s *scanner) tagged(text string) (f blockCall, rest string, ok bool) {
	for _, family := range tagFamilies() {
		m := family.open.FindStringSubmatch(text)
		if m == nil || family.begin == "" && strings.HasPrefix(text, "<") {
			continue
		}
		if f.name = m[1]; s.tools.named(f.name) == nil {
			return f, text, false
		}
		f.arguments, rest, ok = s.parameters(family, f.name, text[len(m[0]):])
		return f, rest, ok
	}
	return f, text, false
}

// parameters reads a call's content: parameters, or JSON.
func (s *scanner) parameters(f tagFamily, name, body string) (arguments, rest string, ok bool) {
	body = strings.TrimLeft(body, space)
	if to := span(body, 0); strings.HasPrefix(body, "{") && f.end != "" {
		if to < 0 {
			return "", "", false
		}
		rest, ok = strings.CutPrefix(strings.TrimLeft(body[to:], space), f.end)
		return body[:to], rest, ok
	}
	args := args{tools: s.tools, name: name, tight: f.tight, seen: map[string]bool{}}
	for {
		body = strings.TrimLeft(body, space)
		if rest, ok := strings.CutPrefix(body, f.end); ok && (f.end != "" || body == "") {
			return args.String(), rest, true
		}
		m := f.param.FindStringSubmatch(body)
		if m == nil {
			return "", "", false
		}
		text, isText := body[len(m[0]):], ""
		if len(m) > 2 {
			isText = m[2]
		}
		at, end := valueEnd(f, text), len(f.valueEnd)
		if next := args.unclosed(f, text[:max(at, 0)], m[1]); next >= 0 {
			at, end = next, 0
		}
		if at < 0 || !args.add(m[1], isText, text[:at]) {
			return "", "", false
		}
		body = text[at+end:]
	}
}

// valueEnd finds a value's closing tag, which must be followed by another parameter or the call's
// end: the value itself may contain such a tag.
func valueEnd(f tagFamily, text string) int {
	for at := 0; ; at++ {
		n := strings.Index(text[at:], f.valueEnd)
		if n < 0 {
			return -1
		}
		at += n
		after := strings.TrimLeft(text[at+len(f.valueEnd):], space)
		if strings.HasPrefix(after, f.next) || f.end != "" && strings.HasPrefix(after, f.end) || f.end == "" && after == "" {
			return at
		}
	}
}

// args collects arguments written as text, with types from the tool's schema.
type args struct {
	tools *tools
	name  string
	tight bool
	seen  map[string]bool
	b     strings.Builder
}

// unclosed returns the start of the next parameter inside an apparent value, for models that omit a
// closing tag, or -1. It must be an unused argument on its own line.
func (a *args) unclosed(f tagFamily, value, key string) int {
	if strings.Contains(value, f.valueEnd) {
		return -1 // text that contains parameters
	}
	for at := 0; ; at++ {
		i := strings.Index(value[at:], f.next)
		if i < 0 {
			return -1
		}
		at += i
		m := f.param.FindStringSubmatch(value[at:])
		if m != nil && a.tools.has(a.name, m[1]) && !a.seen[m[1]] && m[1] != key && strings.HasSuffix(strings.TrimRight(value[:at], " \t"), "\n") {
			return at
		}
	}
}

// add adds an argument; it returns false for a duplicate. A parameter may itself specify whether it
// is text.
func (a *args) add(key, isText, text string) bool {
	if key == "" || a.seen[key] {
		return false
	}
	if len(a.seen) > 0 {
		a.b.WriteString(",")
	}
	a.seen[key] = true
	raw := laxjson.Quote(text)
	switch {
	case isText == "true":
	case isText == "false" && json.Valid([]byte(text)):
		raw = strings.TrimSpace(text)
	default:
		raw = a.typed(key, text)
	}
	a.b.WriteString(laxjson.Quote(key) + ":" + raw)
	return true
}

// typed converts a value to JSON. A line break on each side belongs to the tags; if a family's
// template has none, one at the end alone belongs to the value.
func (a *args) typed(key, text string) string {
	if raw, ok := a.tools.of(a.name, key).value(strings.TrimSpace(text)); ok {
		return raw
	}
	inner := strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n")
	if !a.tight || inner != text {
		inner = strings.TrimSuffix(strings.TrimSuffix(inner, "\n"), "\r")
	}
	return laxjson.Quote(inner)
}

func (a *args) String() string { return "{" + a.b.String() + "}" }
