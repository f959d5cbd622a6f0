package text

import "strings"

// Words splits a line at blanks outside of quotes. An unclosed quote is a plain character, and so
// is an apostrophe within a word.
func Words(line string) (out []string) {
	var b strings.Builder
	var quote byte
	open := false
	for at := range len(line) {
		switch c := line[at]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\'') && strings.IndexByte(line[at+1:], c) >= 0 && (!open || c == '"' || line[at-1] == '='):
			quote, open = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if open {
				out = append(out, b.String())
			}
			b.Reset()
			open = false
		default:
			b.WriteByte(c)
			open = true
		}
	}
	if open {
		out = append(out, b.String())
	}
	return out
}
