package discovery

import (
	"strings"

	"adze/internal/text"
)

// parseTOML reads the texts at the top of a TOML file, which is all that a command of Gemini has:
// prompt and description. Texts of all four kinds are taken; numbers, lists and tables are none of
// them and are left out.
func parseTOML(file string) (Front, string) {
	file = strings.ReplaceAll(text.Plain([]byte(file)), "\r\n", "\n")
	r := reader{}
	var out []Field
	for file != "" {
		line, rest, _ := strings.Cut(file, "\n")
		t := strings.TrimSpace(line)
		if strings.HasPrefix(t, "[") {
			break // a table: what follows is not at the top
		}
		key, value, ok := strings.Cut(t, "=")
		key = strings.Trim(strings.TrimSpace(key), `"'`)
		if t == "" || t[0] == '#' {
			file = rest
			continue
		}
		if !ok || key == "" {
			r.note("a line is no field: %.40q", t)
			file = rest
			continue
		}
		at := strings.Index(file, "=") + 1
		at += len(file[at:]) - len(strings.TrimLeft(file[at:], " \t"))
		text, used, ok := tomlText(file[at:])
		if !ok {
			r.note("%s is no text that ends: %.40q", key, strings.TrimSpace(value))
			file = rest
			continue
		}
		out = append(out, Field{Key: key, Text: text, Quoted: true})
		_, file, _ = strings.Cut(file[at+used:], "\n")
	}
	front := Front{Fields: out, Notes: r.notes}
	return front, front.Text("prompt")
}

// tomlText reads a text at the start of s; used is how many bytes it takes.
func tomlText(s string) (text string, used int, ok bool) {
	for _, q := range []string{`"""`, "'''", `"`, "'"} {
		if !strings.HasPrefix(s, q) {
			continue
		}
		end := tomlEnd(s, q)
		if end < 0 {
			return "", 0, false
		}
		text = s[len(q):end]
		if len(q) == 3 {
			text = strings.TrimPrefix(text, "\n")
		}
		if q[0] == '"' {
			text = unescaped(joined(text, len(q) == 3))
		}
		return text, end + len(q), true
	}
	return "", 0, false
}

// tomlEnd is where the closing quotes begin. Up to two quotes may stand right before them and
// belong to the text.
func tomlEnd(s, q string) int {
	for at := len(q); at < len(s); at++ {
		switch {
		case q[0] == '"' && s[at] == '\\':
			at++
		case len(q) == 1 && s[at] == '\n':
			return -1
		case strings.HasPrefix(s[at:], q):
			for more := 0; len(q) == 3 && more < 2 && strings.HasPrefix(s[at+1:], q); more++ {
				at++
			}
			return at
		}
	}
	return -1
}

// joined takes out a backslash at the end of a line with the blanks that follow it.
func joined(text string, several bool) string {
	if !several {
		return text
	}
	var b strings.Builder
	for text != "" {
		at := strings.IndexByte(text, '\\')
		if at < 0 || at+1 == len(text) {
			break
		}
		rest := strings.TrimLeft(text[at+1:], " \t")
		if !strings.HasPrefix(rest, "\n") {
			b.WriteString(text[:at+2])
			text = text[at+2:]
			continue
		}
		b.WriteString(text[:at])
		text = strings.TrimLeft(rest, " \t\n")
	}
	return b.String() + text
}
