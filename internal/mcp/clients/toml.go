package clients

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// fromTOML reads the tables of a TOML file as JSON. It takes what configurations hold: tables,
// names with dots and quotes, texts, numbers, yes and no, lists, and tables on one line. Of lists
// of tables, which hold no servers, nothing is kept.
func fromTOML(text string) (map[string]json.RawMessage, error) {
	root := map[string]any{}
	at, r := root, &tomlReader{rest: strings.ReplaceAll(text, "\r\n", "\n")}
	for r.skip(true); r.rest != ""; r.skip(true) {
		if r.take("[") {
			list := r.take("[")
			path, err := r.path()
			if err != nil || !r.take("]") || list && !r.take("]") {
				return nil, r.fail("a table")
			}
			if at = table(root, path); list {
				at = map[string]any{}
			}
			continue
		}
		path, err := r.path()
		if err != nil || !r.take("=") {
			return nil, r.fail("a name")
		}
		value, err := r.value(0)
		if err != nil {
			return nil, err
		}
		table(at, path[:len(path)-1])[path[len(path)-1]] = value
	}
	out := map[string]json.RawMessage{}
	for name, value := range root {
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		out[name] = raw
	}
	return out, nil
}

// table is the one at a path, made where it is not there.
func table(from map[string]any, path []string) map[string]any {
	for _, name := range path {
		next, ok := from[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			from[name] = next
		}
		from = next
	}
	return from
}

type tomlReader struct{ rest string }

func (r *tomlReader) fail(what string) error {
	line, _, _ := strings.Cut(r.rest, "\n")
	return fmt.Errorf("%s is expected at %.40q", what, line)
}

// skip passes over blanks and comments, and over ends of lines too.
func (r *tomlReader) skip(lines bool) {
	for {
		blanks := " \t"
		if lines {
			blanks += "\n"
		}
		r.rest = strings.TrimLeft(r.rest, blanks)
		if !strings.HasPrefix(r.rest, "#") {
			return
		}
		_, after, _ := strings.Cut(r.rest, "\n")
		r.rest = "\n" + after
		if !lines {
			return
		}
	}
}

func (r *tomlReader) take(word string) bool {
	r.skip(false)
	rest, ok := strings.CutPrefix(r.rest, word)
	if ok {
		r.rest = rest
		r.skip(false)
	}
	return ok
}

func (r *tomlReader) path() (out []string, err error) {
	for {
		r.skip(false)
		if strings.HasPrefix(r.rest, `"`) || strings.HasPrefix(r.rest, "'") {
			name, err := r.text()
			if err != nil {
				return nil, err
			}
			out = append(out, name)
		} else {
			n := strings.IndexFunc(r.rest, func(c rune) bool {
				return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-", c)
			})
			if n <= 0 {
				return nil, r.fail("a name")
			}
			out, r.rest = append(out, r.rest[:n]), r.rest[n:]
		}
		if !r.take(".") {
			return out, nil
		}
	}
}

// text reads a text of one of the four kinds.
func (r *tomlReader) text() (string, error) {
	for _, quote := range []string{`"""`, "'''"} {
		if rest, ok := strings.CutPrefix(r.rest, quote); ok {
			text, after, ended := strings.Cut(rest, quote)
			if !ended {
				return "", errors.New("a text does not end")
			}
			if r.rest, text = after, strings.TrimPrefix(text, "\n"); quote == `"""` && strings.Contains(text, `\`) {
				return unquote(strings.ReplaceAll(text, "\n", `\n`))
			}
			return text, nil
		}
	}
	if rest, ok := strings.CutPrefix(r.rest, "'"); ok {
		text, after, ended := strings.Cut(rest, "'")
		if !ended || strings.Contains(text, "\n") {
			return "", errors.New("a text does not end")
		}
		r.rest = after
		return text, nil
	}
	for i := 1; i < len(r.rest) && r.rest[i] != '\n'; i++ {
		switch r.rest[i] {
		case '\\':
			i++
		case '"':
			text := r.rest[1:i]
			r.rest = r.rest[i+1:]
			return unquote(text)
		}
	}
	return "", errors.New("a text does not end")
}

// unquote reads the escapes of a text, which are those of JSON and \U.
func unquote(text string) (string, error) {
	return strconv.Unquote(`"` + strings.ReplaceAll(strings.ReplaceAll(text, `\/`, "/"), `\e`, `\x1b`) + `"`)
}

func (r *tomlReader) value(depth int) (any, error) {
	r.skip(false)
	switch {
	case depth > 10:
		return nil, errors.New("it is too deep")
	case strings.HasPrefix(r.rest, `"`), strings.HasPrefix(r.rest, "'"):
		return r.text()
	case r.take("["):
		out := []any{}
		for {
			r.skip(true)
			if r.take("]") {
				return out, nil
			}
			one, err := r.value(depth + 1)
			if err != nil {
				return nil, err
			}
			out = append(out, one)
			r.skip(true)
			if !r.take(",") && !strings.HasPrefix(r.rest, "]") {
				return nil, r.fail("a comma")
			}
		}
	case r.take("{"):
		out := map[string]any{}
		for {
			r.skip(true)
			if r.take("}") {
				return out, nil
			}
			path, err := r.path()
			if err != nil || !r.take("=") {
				return nil, r.fail("a name")
			}
			one, err := r.value(depth + 1)
			if err != nil {
				return nil, err
			}
			table(out, path[:len(path)-1])[path[len(path)-1]] = one
			r.skip(true)
			if !r.take(",") && !strings.HasPrefix(r.rest, "}") {
				return nil, r.fail("a comma")
			}
		}
	}
	n := strings.IndexAny(r.rest, ",]}#\n")
	if n < 0 {
		n = len(r.rest)
	}
	word := strings.TrimSpace(r.rest[:n])
	r.rest = r.rest[n:]
	if word == "true" || word == "false" {
		return word == "true", nil
	}
	if f, err := strconv.ParseFloat(strings.ReplaceAll(word, "_", ""), 64); err == nil && f-f == 0 {
		return f, nil
	}
	if word == "" {
		return nil, r.fail("a value")
	}
	return word, nil // a date
}
