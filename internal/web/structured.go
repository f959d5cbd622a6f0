package web

import (
	"encoding/json"
	"strings"
)

// longLine is the length in bytes from which a line of data is broken for reading.
const longLine = 300

// brokenLines breaks long lines of JSON (after an object or list) or XML (between tags). It returns
// false for other text or if no line is long.
func brokenLines(text string, truncated bool) (string, bool) {
	body := strings.TrimLeft(strings.TrimPrefix(text, "\ufeff"), " \t\r\n")
	switch {
	case body == "":
		return "", false
	case body[0] == '{' || body[0] == '[':
		valid := json.Valid([]byte(body))
		if hasLongLine(body) && (valid || truncated) {
			return breakJSON(body), true
		}
		return text, valid
	case isXML(body) && hasLongLine(body):
		return strings.ReplaceAll(body, "><", ">\n<"), true
	}
	return "", false
}

func isXML(body string) bool {
	head := strings.ToLower(body[:min(len(body), 500)])
	if !strings.HasPrefix(head, "<?xml") && !strings.HasPrefix(head, "<rss") && !strings.HasPrefix(head, "<feed") && !strings.HasPrefix(head, "<rdf:rdf") {
		return false
	}
	return !strings.Contains(head, "<!doctype html") && !strings.Contains(head, "<html")
}

func hasLongLine(s string) bool {
	for line := range strings.Lines(s) {
		if len(line) > longLine {
			return true
		}
	}
	return false
}

// breakJSON breaks the line after each object and list followed by another value. s may be
// truncated.
func breakJSON(s string) string {
	var b strings.Builder
	inString, escaped := false, false
	for i := range len(s) {
		c := s[i]
		b.WriteByte(c)
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case c == ',' && !inString && (s[i-1] == '}' || s[i-1] == ']'):
			b.WriteByte('\n')
		}
	}
	return b.String()
}
