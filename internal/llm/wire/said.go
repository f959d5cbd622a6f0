package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parseSaid reads the known shapes: {"error":{message,type,code}}, {"error":"text"},
// {"message":"text"}, {"detail":"text"}, each also as the first element of a list.
func parseSaid(body []byte) (Refusal, bool) {
	var value any
	if json.Unmarshal(body, &value) != nil {
		return Refusal{}, false
	}
	if list, ok := value.([]any); ok && len(list) > 0 {
		value = list[0]
	}
	object, ok := value.(map[string]any)
	if !ok {
		return Refusal{}, false
	}
	if text, ok := object["error"].(string); ok {
		return Refusal{Text: text, Code: word(object["code"]), wrote: misread(text)}, text != ""
	}
	if list, ok := object["errors"].([]any); ok && len(list) > 0 && object["error"] == nil { // Cloudflare
		object["error"] = list[0]
	}
	if inner, ok := object["error"].(map[string]any); ok {
		object = inner
	}
	s := Refusal{Kind: word(object["type"]), Code: word(object["code"]), Param: word(object["param"]), wrote: word(object["failed_generation"])}
	if s.Kind == "" {
		s.Kind = word(object["status"]) // Google's name of the kind
	}
	for _, key := range []string{"message", "Message", "detail", "error_description", "msg", "type"} {
		if s.Text = word(object[key]); s.Text != "" {
			s.unquote()
			s.handed(object["metadata"])
			if s.wrote = cmp.Or(s.wrote, misread(s.Text)); s.wrote == "" && s.Code == "tool_use_failed" {
				s.wrote = s.Text
			}
			return s, true
		}
	}
	return s, false
}

// unquote unwraps a gateway's message that is itself the original provider's whole error.
func (s *Refusal) unquote() {
	if inner, ok := parseSaid([]byte(s.Text)); ok {
		s.Text = inner.Text
		s.Kind, s.Code, s.wrote = cmp.Or(inner.Kind, s.Kind), cmp.Or(inner.Code, s.Code), cmp.Or(s.wrote, inner.wrote)
	}
}

// handed adds OpenRouter's details about the original provider's failure: a text or an object.
func (s *Refusal) handed(metadata any) {
	about, _ := metadata.(map[string]any)
	raw := word(about["raw"])
	if inner, ok := parseSaid([]byte(raw)); ok {
		s.wrote, raw = cmp.Or(s.wrote, inner.wrote), inner.Text
	}
	if raw != "" && !strings.Contains(s.Text, raw) {
		s.Text += ": " + raw
	}
}

// misread returns the answer that Ollama quotes if it could not parse a call.
func misread(message string) string {
	_, raw, ok := strings.Cut(message, "error parsing tool call: raw='")
	if !ok {
		return ""
	}
	if end := strings.LastIndex(raw, "', err="); end >= 0 {
		raw = raw[:end]
	}
	return raw
}

// word returns a string unchanged, and anything else as JSON; nil becomes "".
func word(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

// clip returns one limited line without control characters.
func clip(text string, limit int) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}

func isHTML(body []byte) bool {
	start := bytes.ToLower(bytes.TrimSpace(body[:min(len(body), 512)]))
	return bytes.HasPrefix(start, []byte("<!doctype")) || bytes.HasPrefix(start, []byte("<html")) ||
		bytes.HasPrefix(start, []byte("<head")) || bytes.HasPrefix(start, []byte("<?xml"))
}

// htmlTitle returns a page's title, or a default.
func htmlTitle(body []byte) string {
	lower := bytes.ToLower(body)
	start := bytes.Index(lower, []byte("<title>"))
	if start < 0 {
		return "untitled"
	}
	rest := body[start+len("<title>"):]
	title, _, _ := bytes.Cut(rest, []byte("<"))
	return strings.TrimSpace(string(title))
}
