package golden

import (
	"strconv"
	"strings"
)

func encode(s section, value string) string {
	if !s.quoted {
		return endLine(value)
	}
	var b strings.Builder
	for line := range strings.SplitAfterSeq(value, "\n") {
		if line != "" {
			b.WriteString(quoteLine(line) + "\n")
		}
	}
	return b.String()
}

// quoteLine escapes invisible characters; quotes stay, because nothing surrounds a line.
func quoteLine(line string) string {
	q := strconv.QuoteToGraphic(line)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// unquote joins a quoted section's lines. An invalid Go string is kept as it is, so that a mistake
// shows as a difference and not as a panic.
func unquote(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		plain, err := strconv.Unquote(`"` + escapeQuotes(line) + `"`)
		if err != nil {
			plain = line
		}
		b.WriteString(plain)
	}
	return b.String()
}

// escapeQuotes puts a backslash before every quote without one.
func escapeQuotes(line string) string {
	var b strings.Builder
	escaped := false
	for _, r := range line {
		if r == '"' && !escaped {
			b.WriteByte('\\')
		}
		escaped = r == '\\' && !escaped
		b.WriteRune(r)
	}
	return b.String()
}
