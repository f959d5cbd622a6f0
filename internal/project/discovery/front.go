package discovery

import (
	"fmt"
	"strings"
	"unicode"

	"adze/internal/text"
)

// FrontMatter is a file's front matter: flat fields, some with lists.
type FrontMatter struct {
	Fields  []Field
	Notes   []string // possibly unintended interpretations
	Problem string   // why it was ignored as a whole, or ""
}

// per file
const maxNotes = 8

// Parse splits a file into front matter and body. It never fails: unreadable parts are noted and
// skipped.
//
// It accepts common input that YAML rejects: a colon or a bracket in a value, *.ts without quotes,
// tabs, a byte order mark, encodings other than UTF-8, CRLF, duplicate keys (the last one counts,
// as in PyYAML and Ruby), a missing end.
func Parse(file string) (f FrontMatter, body string) {
	file = strings.ReplaceAll(text.Plain([]byte(file)), "\r\n", "\n")
	first, rest, _ := strings.Cut(file, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return FrontMatter{}, file
	}
	lines, body, ended := fenced(rest)
	if size := len(rest) - len(body); size > maxFront {
		return FrontMatter{Problem: fmt.Sprintf("its front matter is longer than %d bytes", maxFront)}, ""
	}
	if !ended {
		f.note("its front matter has no end; it is taken to end before the first line that is no field")
	}
	f.read(lines)
	return f, body
}

// fenced finds the line that ends the front matter. Without one, it ends before the first blank
// line or the first that cannot belong to it.
func fenced(rest string) (lines []string, body string, ended bool) {
	left := rest
	for left != "" && len(rest)-len(left) <= maxFront {
		line, after, _ := strings.Cut(left, "\n")
		if t := strings.TrimRight(line, " \t"); t == "---" || t == "..." {
			return lines, after, true
		}
		lines = append(lines, line)
		left = after
	}
	body = rest
	for n, line := range lines {
		if _, _, field := pair(line); !field && indent(line) == 0 && !dashed(line) {
			return lines[:n], body, false
		}
		_, body, _ = strings.Cut(body, "\n")
	}
	return lines, left, false
}

func (f *FrontMatter) note(format string, args ...any) {
	if len(f.Notes) < maxNotes {
		f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
	}
}

// read parses fields, each with the indented lines below it.
func (f *FrontMatter) read(lines []string) {
	at := map[string]int{}
	for len(lines) > 0 {
		line := lines[0]
		lines = lines[1:]
		if blank(line) {
			continue
		}
		key, value, ok := pair(strings.TrimLeft(line, " \t"))
		if !ok {
			f.note("a line is no field: %.40q", strings.TrimSpace(line))
			continue
		}
		n := below(lines, indent(line), value)
		field := fieldOf(key, value, lines[:n])
		lines = lines[n:]
		if was, twice := at[Spelling(key)]; twice {
			f.note("%s stands there twice; the last counts", key)
			f.Fields[was] = field
			continue
		}
		at[Spelling(key)] = len(f.Fields)
		f.Fields = append(f.Fields, field)
	}
}

// below counts the lines of a field: more indented ones, blank ones between them, and list dashes,
// which may be at the key's own indent.
func below(lines []string, base int, value string) (n int) {
	list := value == "" || value[0] == '#'
	for at, line := range lines {
		switch {
		case strings.TrimSpace(line) == "":
		case indent(line) > base, list && indent(line) == base && dashed(line):
			n = at + 1
		default:
			return n
		}
	}
	return n
}

// pair splits a line at the colon after its key, which must be followed by a blank or the line's
// end.
func pair(line string) (key, value string, ok bool) {
	at := strings.IndexByte(line, ':')
	if at <= 0 || at > 128 || strings.IndexByte(" \t#", line[0]) >= 0 || dashed(line) {
		return "", "", false
	}
	key, value = strings.TrimSpace(line[:at]), line[at+1:]
	if value != "" && value[0] != ' ' && value[0] != '\t' {
		return "", "", false
	}
	return key, strings.TrimSpace(value), true
}

// indent returns a line's indent. A tab counts as one.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// blank reports an empty line or a comment.
func blank(line string) bool {
	t := strings.TrimSpace(line)
	return t == "" || t[0] == '#'
}

func dashed(line string) bool {
	t := strings.TrimLeft(line, " \t")
	return t == "-" || strings.HasPrefix(t, "- ") || strings.HasPrefix(t, "-\t")
}

// Spelling normalizes a key: argument-hint, argument_hint and argumentHint are equal. It is called
// for each field at startup.
func Spelling(key string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' {
			return -1
		}
		return unicode.ToLower(r)
	}, key)
}

// Field finds a field by its key in any spelling.
func (f FrontMatter) Field(key string) (Field, bool) {
	wanted := Spelling(key)
	for _, field := range f.Fields {
		if Spelling(field.Key) == wanted {
			return field, true
		}
	}
	return Field{}, false
}

// Text returns the first nonempty text of these fields, with folded lines joined, or "".
func (f FrontMatter) Text(keys ...string) string {
	for _, key := range keys {
		if field, ok := f.Field(key); ok && field.Text != "" {
			return field.Text
		}
	}
	return ""
}

// List returns the first existing field of these as a list, in any notation.
func (f FrontMatter) List(keys ...string) (items []string, ok bool) {
	for _, key := range keys {
		if field, there := f.Field(key); there {
			return field.List(), true
		}
	}
	return nil, false
}

// Bool returns a boolean field; ok is false if it is missing or has another value.
func (f FrontMatter) Bool(key string) (yes, ok bool) {
	switch strings.ToLower(f.Text(key)) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off":
		return false, true
	}
	return false, false
}
