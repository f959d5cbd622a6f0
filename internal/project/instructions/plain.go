package instructions

import (
	"bytes"
	"strings"
)

// maxImports limits a file's @ names: each costs a file lookup.
const maxImports = 100

// plain removes HTML comments at the start of a line from Markdown, as Claude Code does, and lists
// the text's imports: names after an @ that begins a line or follows a blank. Code and other
// comments stay and import nothing.
func plain(text string) (string, []string) {
	var out []byte
	var imports []string
	ends := strings.LastIndex(text, "-->")
	for at := 0; at < len(text); {
		rest, n := text[at:], 1 // n bytes of it stay
		begins := at == 0 || text[at-1] == '\n'
		block := 0
		if begins {
			block = fenced(rest)
		}
		switch {
		case block > 0:
			n = block
		case rest[0] == '`':
			line, _, _ := strings.Cut(rest, "\n")
			n = len(line) - len(strings.TrimLeft(line, "`"))
			n += span(line[n:], line[:n])
		case strings.HasPrefix(rest, "<!--") && at+len("<!--") <= ends:
			_, after, _ := strings.Cut(rest[len("<!--"):], "-->")
			n = len(rest) - len(after)
			line := out[bytes.LastIndexByte(out, '\n')+1:]
			if len(line) > 3 || len(bytes.TrimLeft(line, " ")) > 0 {
				break // beside text, or in an indented code block
			}
			if head, _, ends := strings.Cut(after, "\n"); ends && strings.TrimSpace(head) == "" {
				out = out[:len(out)-len(line)]
				n += len(head) + len("\n")
			}
			at += n
			continue
		case rest[0] == '@' && (begins || strings.IndexByte(" \t(", text[at-1]) >= 0):
			name := rest[1:]
			if end := strings.IndexAny(name, " \t\r\n`"); end >= 0 {
				name = name[:end]
			}
			if name != "" && len(imports) < maxImports {
				imports = append(imports, name)
			}
		}
		out = append(out, rest[:n]...)
		at += n
	}
	return string(out), imports
}

// fenced returns the length of the fenced block that begins text, or 0.
func fenced(text string) (n int) {
	opened := ""
	for line := range strings.Lines(text) {
		run := fenceOf(line)
		if n += len(line); opened == "" {
			if opened = run; run == "" {
				return 0
			}
		} else if run != "" && run[0] == opened[0] && len(run) >= len(opened) && strings.Trim(line, " \t\r\n"+run[:1]) == "" {
			return n
		}
	}
	return n
}

// fenceOf returns the characters that open a fenced block, or "".
func fenceOf(line string) string {
	text := strings.TrimLeft(line, " \t")
	n := 0
	for n < len(text) && (text[n] == '`' || text[n] == '~') && text[n] == text[0] {
		n++
	}
	if n < 3 || text[0] == '`' && strings.Contains(text[n:], "`") {
		return ""
	}
	return text[:n]
}

// span returns a code span's length after its opening run, or 0.
func span(text, run string) int {
	for at := 0; ; {
		i := strings.Index(text[at:], run)
		if i < 0 {
			return 0
		}
		at += i
		n := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		if n == len(run) {
			return at + n
		}
		at += n
	}
}
