package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/session"
)

// said is what a provider told about a failure.
type said struct{ message, kind, code string }

// parseSaid reads the shapes in use: {"error":{message,type,code}}, {"error":"text"}, {"message":"text"},
// {"detail":"text"}, each also as the first element of a list.
func parseSaid(body []byte) (said, bool) {
	var value any
	if json.Unmarshal(body, &value) != nil {
		return said{}, false
	}
	if list, ok := value.([]any); ok && len(list) > 0 {
		value = list[0]
	}
	object, ok := value.(map[string]any)
	if !ok {
		return said{}, false
	}
	if text, ok := object["error"].(string); ok {
		return said{message: text, code: word(object["code"])}, text != ""
	}
	if inner, ok := object["error"].(map[string]any); ok {
		object = inner
	}
	s := said{kind: word(object["type"]), code: word(object["code"])}
	if s.kind == "" {
		s.kind = word(object["status"]) // Google's name of the kind
	}
	for _, key := range []string{"message", "detail", "error_description", "msg", "type"} {
		if s.message = word(object[key]); s.message != "" {
			return s, true
		}
	}
	return s, false
}

// word is a string as it is, and anything else as its JSON; nothing is the empty string.
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

// classify sorts a failure. Words come before the status, because providers use 400 and 500 for all. In an
// answer that began well, a code that is an HTTP status stands for it.
func classify(status int, s said) session.ErrorKind {
	if code, err := strconv.Atoi(s.code); status == 0 && err == nil && code >= 400 && code <= 599 {
		status = code
	}
	text := strings.ToLower(s.message + " " + s.kind + " " + s.code)
	switch {
	case has(text, "insufficient_quota", "exceeded your current quota", "credit balance is too low"):
		return session.AuthError // waiting does not help
	case status != http.StatusTooManyRequests && tooLong(text):
		return session.ContextError
	case has(text, "content_filter", "content_policy", "content management policy", "safety system"):
		return session.RefusedAnswer
	}
	if kind, ok := byStatus(status, text); ok {
		return kind
	}
	return byWords(status, text)
}

// tooLong recognises a prompt that does not fit, which every server words differently; the test names
// them. The text is in lower case.
func tooLong(text string) bool {
	if has(text, "context length", "context size", "context window", "context limit", "context_length", "context_size") &&
		has(text, "exceed", "longer than", "too long", "too large", "maximum", "greater than", "overflow") {
		return true
	}
	return has(text, "prompt is too long", "input is too long", "input token count", "too many tokens",
		"request_too_large", "reduce the length of the messages", "maximum prompt length", "maximum model length",
		"model token limit", "exceeds the maximum number of tokens", "exceeds maximum context", "`inputs` tokens")
}

func byStatus(status int, text string) (session.ErrorKind, bool) {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusPaymentRequired:
		return session.AuthError, true
	case status == http.StatusNotFound && has(text, "model", "not_found"):
		return session.NoModelError, true
	case status == http.StatusTooManyRequests || status == 529:
		return session.RateError, true
	case status == http.StatusRequestEntityTooLarge:
		return session.ContextError, true
	case status == http.StatusRequestTimeout || status == http.StatusTooEarly || status >= 500:
		return session.ServerError, true
	}
	return "", false
}

func byWords(status int, text string) session.ErrorKind {
	switch {
	case has(text, "overloaded", "rate_limit", "rate limit"):
		return session.RateError
	case has(text, "invalid_api_key", "api key not valid", "api key not found", "api key expired", "authentication_error",
		"permission_error"):
		return session.AuthError
	case has(text, "model_not_found", "not_found_error") || has(text, "model") && has(text, "not found", "does not exist"):
		return session.NoModelError
	case status == 0 && !has(text, "invalid_request"):
		return session.ServerError
	}
	return session.RequestError
}

func has(text string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// clip makes one bounded line without control characters.
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

// htmlTitle is the title of a page, or a word that says there was none.
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
