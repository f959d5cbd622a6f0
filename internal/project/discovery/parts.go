package discovery

import "strings"

// PartKind is the kind of a Part.
type PartKind int

// Kinds of parts.
const (
	Plain PartKind = iota // text with arguments
	Shell                 // shell command to run before the text is sent
	File                  // file to attach
)

// A Part is a piece of a command's text.
type Part struct {
	Kind PartKind
	Text string // text, command, or path
	Raw  string // as in the file
}

// Parts splits a command's text: !`command` and blocks that begin with ```!, after a blank or at
// the start of a line, and @path. Text inserted later, such as arguments and output, is never
// split.
func Parts(body string) (out []Part) {
	plain := 0
	for at := 0; at < len(body); {
		p, ok := partAt(body, at)
		if !ok {
			at++
			continue
		}
		if plain < at {
			out = append(out, Part{Text: body[plain:at], Raw: body[plain:at]})
		}
		out = append(out, p)
		at += len(p.Raw)
		plain = at
	}
	if plain < len(body) {
		out = append(out, Part{Text: body[plain:], Raw: body[plain:]})
	}
	return out
}

// ShellParts returns the shell commands in a text.
func ShellParts(body string) (out []string) {
	for _, p := range Parts(body) {
		if p.Kind == Shell {
			out = append(out, p.Text)
		}
	}
	return out
}

// partAt returns the part that begins at an offset, if it is not plain text.
func partAt(body string, at int) (Part, bool) {
	rest := body[at:]
	before := byte('\n')
	if at > 0 {
		before = body[at-1]
	}
	switch {
	case before == '\n' && strings.HasPrefix(rest, "```!"):
		return fence(rest)
	case before != '\n' && before != ' ' && before != '\t' && before != '(':
	case strings.HasPrefix(rest, "!`"):
		end := strings.IndexAny(rest[2:], "`\n")
		if end > 0 && rest[2+end] == '`' && strings.TrimSpace(rest[2:2+end]) != "" {
			return Part{Shell, strings.TrimSpace(rest[2 : 2+end]), rest[:2+end+1]}, true
		}
	case rest[0] == '@':
		end := strings.IndexAny(rest, " \t\n`\"'<>|*")
		if end < 0 {
			end = len(rest)
		}
		path := strings.TrimRight(rest[1:end], ".,;:!?)]")
		if path != "" && strings.IndexByte("{}(@", path[0]) < 0 {
			return Part{File, path, rest[:1+len(path)]}, true
		}
	}
	return Part{}, false
}

// fence returns a shell block.
func fence(rest string) (Part, bool) {
	head, below, ok := strings.Cut(rest, "\n")
	if !ok || strings.TrimSpace(head) != "```!" {
		return Part{}, false
	}
	used := len(head) + 1
	for line := range strings.Lines(below) {
		if strings.TrimSpace(line) == "```" {
			text := strings.TrimSpace(rest[len(head)+1 : used])
			return Part{Shell, text, rest[:used+len(strings.TrimRight(line, "\n"))]}, text != ""
		}
		used += len(line)
	}
	return Part{}, false
}
