package discovery

import (
	"fmt"
	"strings"
	"unicode"

	"adze/internal/text"
)

// Front is the front matter of a file: flat fields, a few of which hold a list or a map.
type Front struct {
	Fields  []Field
	Notes   []string // what was taken in a way that its writer may not have meant
	Problem string   // why nothing of it was taken; if empty, it was
}

// Field is one field.
type Field struct {
	Key    string
	Text   string  // its value as one text; of a list or map without a text empty
	Quoted bool    // Text stood in quotes
	Items  []Field // of a list that is written with dashes; their keys are empty
	Fields []Field // of an indented map, or one in braces
}

// maxMaps is how deep maps may lie in maps: permission, bash, and its patterns.
const maxMaps = 3

// maxNotes bounds what is said about one file.
const maxNotes = 8

// Parse splits a file into its front matter and its body. Nothing is an error: what cannot be read
// is noted and left out.
//
// It takes what YAML refuses and people write: a colon or a bracket within a value, *.ts without
// quotes, tabs, a byte order mark, another encoding than UTF-8, line ends of Windows, keys that
// come twice (the last counts, as in PyYAML and Ruby), a missing end.
func Parse(file string) (Front, string) {
	file = strings.ReplaceAll(text.Plain([]byte(file)), "\r\n", "\n")
	first, rest, _ := strings.Cut(file, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return Front{}, file
	}
	lines, body, ended := fenced(rest)
	if size := len(rest) - len(body); size > maxFront {
		return Front{Problem: fmt.Sprintf("its front matter is longer than %d bytes", maxFront)}, ""
	}
	r := reader{}
	if !ended {
		r.note("its front matter has no end; it is taken to end before the first line that is no field")
	}
	return Front{Fields: r.block(lines, 1), Notes: r.notes}, body
}

// fenced finds the line that ends the front matter. Where none does, it ends before the first blank
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

// reader reads lines into fields.
type reader struct{ notes []string }

func (r *reader) note(format string, args ...any) {
	if len(r.notes) < maxNotes {
		r.notes = append(r.notes, fmt.Sprintf(format, args...))
	}
}

// block reads the fields of one map; its lines are indented alike, those below a field more.
func (r *reader) block(lines []string, depth int) (out []Field) {
	at := map[string]int{}
	for len(lines) > 0 {
		line := lines[0]
		lines = lines[1:]
		if blank(line) {
			continue
		}
		key, value, ok := pair(strings.TrimLeft(line, " \t"))
		if !ok {
			r.note("a line is no field: %.40q", strings.TrimSpace(line))
			continue
		}
		n := below(lines, indent(line), value)
		f := r.value(value, lines[:n], depth)
		f.Key, lines = key, lines[n:]
		if was, twice := at[Spelling(key)]; twice {
			r.note("%s stands there twice; the last counts", key)
			out[was] = f
			continue
		}
		at[Spelling(key)] = len(out)
		out = append(out, f)
	}
	return out
}

// below counts the lines that belong to a field: those that are indented more, blank ones between
// them, and the dashes of a list, which may stand right under its name.
func below(lines []string, base int, value string) (n int) {
	list := strings.TrimSpace(value) == "" || value[0] == '#'
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

// pair splits a line at the colon that ends its key: one that a blank or the line's end follows. A
// key is short, and a quoted one may hold anything.
func pair(line string) (key, value string, ok bool) {
	if line == "" || strings.IndexByte(" \t#", line[0]) >= 0 || dashed(line) {
		return "", "", false
	}
	if q := line[0]; q == '"' || q == '\'' {
		end := strings.IndexByte(line[1:], q)
		if end < 0 || !strings.HasPrefix(strings.TrimLeft(line[end+2:], " \t"), ":") {
			return "", "", false
		}
		key, value = line[1:1+end], strings.TrimLeft(line[end+2:], " \t")[1:]
	} else {
		for at := strings.IndexByte(line, ':'); ; {
			if at <= 0 || at > 128 {
				return "", "", false
			}
			if at+1 == len(line) || line[at+1] == ' ' || line[at+1] == '\t' {
				key, value = line[:at], line[at+1:]
				break
			}
			next := strings.IndexByte(line[at+1:], ':')
			if next < 0 {
				return "", "", false
			}
			at += 1 + next
		}
	}
	return strings.TrimSpace(key), strings.TrimSpace(value), strings.TrimSpace(key) != ""
}

// indent is how far a line stands in; a tab counts as one step, as people who mix them mean it.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// blank lines and comments say nothing.
func blank(line string) bool {
	t := strings.TrimSpace(line)
	return t == "" || t[0] == '#'
}

// dashed reports an element of a list.
func dashed(line string) bool {
	t := strings.TrimLeft(line, " \t")
	return t == "-" || strings.HasPrefix(t, "- ") || strings.HasPrefix(t, "-\t")
}

// Spelling is a key or a name without what writers differ in: argument-hint, argument_hint and
// argumentHint are one. It is asked for each field of each file at a start.
func Spelling(key string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' {
			return -1
		}
		return unicode.ToLower(r)
	}, key)
}

// Field finds a field by its key, in any way of writing it.
func (f Front) Field(key string) (Field, bool) { return find(f.Fields, key) }

func find(fields []Field, key string) (Field, bool) {
	wanted := Spelling(key)
	for _, field := range fields {
		if Spelling(field.Key) == wanted {
			return field, true
		}
	}
	return Field{}, false
}

// Text is the first of some fields that has a text, on one line where its writer broke it only to
// fit; if empty, none has.
func (f Front) Text(keys ...string) string {
	for _, key := range keys {
		if field, ok := f.Field(key); ok && field.Text != "" {
			return field.Text
		}
	}
	return ""
}

// List is the first of some fields that is there, as a list, in whichever of the ways of writing
// one.
func (f Front) List(keys ...string) (items []string, ok bool) {
	for _, key := range keys {
		if field, there := f.Field(key); there {
			return field.List(), true
		}
	}
	return nil, false
}

// Bool is a field that says yes or no; ok false: it says neither, or is not there.
func (f Front) Bool(key string) (yes, ok bool) {
	switch strings.ToLower(f.Text(key)) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off":
		return false, true
	}
	return false, false
}
