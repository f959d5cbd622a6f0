package textparse

import (
	"encoding/json"
	"strings"

	"adze/tool/laxjson"
)

// DeepSeek since V3.2 and MiniMax since M2 write
//
//	<MARKinvoke name="NAME"><MARKparameter name="KEY">VALUE</MARKparameter></MARKinvoke>
//
// between outer tags of their own. DeepSeek's mark is ｜DSML｜, and its parameters say with
// string="true" or string="false" whether the value is text or JSON.

// marks spell DeepSeek's as the tokeniser does, and in plain letters; then those of Claude and
// Step; the last is none.
func marks() []string { return []string{"｜DSML｜", "|DSML|", "antml:", "steptml:", ""} }

// invokeOpens are the outer tags, and DeepSeek's inner one, which stands alone when a server
// swallowed them.
func invokeOpens() []string {
	out := []string{"<minimax:tool_call>", "<function_calls>", "<tool_calls>"}
	for _, m := range marks() {
		if out = append(out, "<"+m+"invoke name="); m != "" {
			out = append(out, "<"+m+"function_calls>", "<"+m+"tool_calls>")
		}
	}
	return out
}

func invokeCloses() []string {
	out := []string{"</minimax:tool_call>", "</function_calls>", "</tool_calls>"}
	for _, m := range marks() {
		if out = append(out, "</"+m+"invoke>"); m != "" {
			out = append(out, "</"+m+"function_calls>", "</"+m+"tool_calls>")
		}
	}
	return out
}

// cutOuter removes the outer tag at the start.
func cutOuter(text string) (body string, outer bool) {
	for _, open := range invokeOpens() {
		if rest, ok := strings.CutPrefix(text, open); ok && strings.HasSuffix(open, ">") {
			return rest, true
		}
	}
	return text, false
}

// probeInvoke judges what follows the opening: a call, the JSON that MiniMax-M1, Hunyuan and Jamba
// have there, or Olmo's lines of Python.
func probeInvoke(s *scanner, rest string) bool {
	if name := strings.TrimLeft(rest, `"'`); name != rest { // the opening was the inner one
		return s.invoked(rest)
	}
	return probeBody(s, rest)
}

// invoking reports whether the beginning of a tag can be that of a call.
func (s *scanner) invoking(rest string) bool {
	for _, m := range marks() {
		open := "<" + m + "invoke name="
		if strings.HasPrefix(open, rest) {
			return true
		}
		if rest, ok := strings.CutPrefix(rest, open); ok {
			return s.invoked(rest)
		}
	}
	return false
}

// invoked reports whether the beginning of a name can be an offered one.
func (s *scanner) invoked(rest string) bool {
	name, _, whole := strings.Cut(rest, ">")
	if !whole {
		return s.tools.starts(strings.Trim(name, `"' `))
	}
	return s.tools.named(attribute(" name="+name, "name")) != nil
}

// readInvoke reads the calls between outer tags. The closing one may be missing at the end, because
// servers do not print a model's stop token.
func readInvoke(s *scanner, held string) reading {
	body, outer := cutOuter(held)
	closed := !outer
	for _, end := range invokeCloses() {
		if inner, ok := strings.CutSuffix(body, end); ok && outer && !strings.HasSuffix(end, "invoke>") {
			body, closed = inner, true
		}
	}
	body = strings.TrimSpace(body)
	if body == "" || !closed && !s.ended {
		return reading{verdict: s.atEnd(no)}
	}
	inside := s.body
	if !closed && !delimited(body) || !outer {
		inside = s.invokes // more may have been to come, unless its own tags say that it was all
	}
	calls, ok := inside(body)
	return s.orWait(s.all(calls, ok))
}

// invokes reads calls one after the other, to the end of the text.
func (s *scanner) invokes(text string) (calls []found, ok bool) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		f, rest, ok := s.invoke(text)
		if !ok {
			return nil, false
		}
		calls, text = append(calls, f), rest
	}
	return calls, len(calls) > 0
}

func (s *scanner) invoke(text string) (f found, rest string, ok bool) {
	for _, mark := range marks() {
		after, begun := strings.CutPrefix(text, "<"+mark+"invoke ")
		head, body, whole := strings.Cut(after, ">")
		if !begun || !whole {
			continue
		}
		if f.name = attribute(" "+head, "name"); s.tools.named(f.name) == nil {
			return f, text, false
		}
		f.arguments, rest, ok = s.invokeArguments(f.name, mark, body)
		return f, rest, ok
	}
	return f, text, false
}

// invokeArguments reads the parameters of one call and what follows its end.
func (s *scanner) invokeArguments(name, mark, body string) (arguments, rest string, ok bool) {
	open, end, close := "<"+mark+"parameter ", "</"+mark+"invoke>", "</"+mark+"parameter>"
	args := newArguments(s.tools, name)
	args.tight = true
	for {
		body = strings.TrimLeft(body, space)
		if rest, ok := strings.CutPrefix(body, end); ok {
			return args.String(), rest, true
		}
		after, begun := strings.CutPrefix(body, open)
		head, text, whole := strings.Cut(after, ">")
		if !begun || !whole {
			return "", "", false
		}
		at := endBefore(text, close, open, end)
		if at < 0 || !args.addAs(attribute(" "+head, "name"), attribute(" "+head, "string"), text[:at]) {
			return "", "", false
		}
		body = text[at+len(close):]
	}
}

// endBefore finds the closing tag that one of the others follows: a value may hold such a tag
// itself.
func endBefore(text, close string, next ...string) int {
	for at := 0; ; at++ {
		n := strings.Index(text[at:], close)
		if n < 0 {
			return -1
		}
		at += n
		after := strings.TrimLeft(text[at+len(close):], space)
		for _, tag := range next {
			if strings.HasPrefix(after, tag) {
				return at
			}
		}
	}
}

// attribute is the value of an attribute of a tag, in quotes of either kind or none.
func attribute(head, key string) string {
	_, value, ok := strings.Cut(head, " "+key+"=")
	if !ok || value == "" {
		return ""
	}
	if quote := value[0]; quote == '"' || quote == '\'' {
		value, _, ok = strings.Cut(value[1:], string(quote))
		if !ok {
			return ""
		}
		return value
	}
	value, _, _ = strings.Cut(value, " ")
	return value
}

// addAs takes an argument that says itself whether it is text; else the tool's schema does.
func (a *args) addAs(key, isText, text string) bool {
	raw := ""
	switch {
	case isText == "true":
		raw = laxjson.Quote(text)
	case isText == "false" && json.Valid([]byte(text)):
		raw = strings.TrimSpace(text)
	default:
		return a.add(key, text)
	}
	return a.put(key, raw)
}
