package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// entry is a server in a project file of adze or another assistant.
type entry struct {
	Type        string         `json:"type"`
	Transport   string         `json:"transport"`
	Command     any            `json:"command"` // string, or program and arguments
	Args        []any          `json:"args"`
	Env         map[string]any `json:"env"`
	Environment map[string]any `json:"environment"`
	Cwd         any            `json:"cwd"`
	URL         string         `json:"url"`
	HTTPURL     string         `json:"httpUrl"`
	ServerURL   string         `json:"serverUrl"`
	Headers     map[string]any `json:"headers"`
	Disabled    bool           `json:"disabled"`
	Enabled     *bool          `json:"enabled"`
}

// Read decodes a server from an entry of a file; off reports whether the file disables it.
// Variables stay unexpanded.
func Read(name string, raw []byte) (s Server, off bool, err error) {
	var e entry
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // a number counts as a string
	if d.Decode(&e) != nil {
		return s, false, errors.New("it is no server that adze can read")
	}
	s = Server{Name: name, Dir: strings.Join(words(e.Cwd), ""), Env: map[string]string{}, Headers: map[string]string{}}
	switch c := e.Command.(type) {
	case string:
		s.Command = append([]string{c}, words(e.Args...)...)
	case map[string]any:
		args, _ := c["args"].([]any)
		if path, _ := c["path"].(string); path != "" {
			s.Command = append([]string{path}, words(args...)...)
		}
		e.Env, _ = c["env"].(map[string]any)
	case []any:
		s.Command = words(c...)
	}
	for _, url := range []string{e.HTTPURL, e.URL, e.ServerURL} {
		if s.URL == "" && len(s.Command) == 0 {
			s.URL = url
		}
	}
	s.SSE = s.URL != "" && s.URL != e.HTTPURL && UsesSSE(cmp.Or(e.Type, e.Transport), s.URL)
	for _, m := range []map[string]any{e.Env, e.Environment} {
		for key, value := range m {
			s.Env[key] = fmt.Sprint(value)
		}
	}
	for key, value := range e.Headers {
		s.Headers[key] = fmt.Sprint(value)
	}
	if len(s.Command) == 0 && s.URL == "" {
		return s, false, errors.New("it names neither a command nor an address")
	}
	return s, e.Disabled || e.Enabled != nil && !*e.Enabled, nil
}

// words formats values as strings, without those that are null.
func words(values ...any) (out []string) {
	for _, v := range values {
		if v != nil {
			out = append(out, fmt.Sprint(v))
		}
	}
	return out
}

// UsesSSE reports whether a server uses HTTP+SSE (protocol 2024-11-05), by the kind in its file,
// else by its address's usual form.
func UsesSSE(kind, address string) bool {
	if kind != "" && kind != "remote" {
		return kind == "sse"
	}
	path, _, _ := strings.Cut(address, "?")
	return strings.HasSuffix(strings.TrimSuffix(path, "/"), "/sse")
}

// Variables holds the values for a server's placeholders.
type Variables struct {
	Getenv func(string) string
	Keys   []string // names that hold API keys; servers do not get them
	Dir    string
	Home   string
}

// Expand replaces ${NAME} and ${NAME:-default} in a server's texts, and the forms of other
// assistants: ${env:NAME}, ${workspaceFolder}, ${userHome}. An unknown variable makes the server
// unusable.
func (s Server) Expand(v Variables) Server {
	x := expander{variables: v}
	s = s.Rewrite(x.text)
	if s.Dir != "" && !filepath.IsAbs(s.Dir) {
		s.Dir = filepath.Join(v.Dir, s.Dir)
	}
	s.Err = cmp.Or(s.Err, x.err)
	return s
}

// Rewrite copies the server with text applied to its strings.
func (s Server) Rewrite(text func(string) string) Server {
	s.Command, s.Env, s.Headers, s.OAuth = slices.Clone(s.Command), maps.Clone(s.Env), maps.Clone(s.Headers), maps.Clone(s.OAuth)
	for i, word := range s.Command {
		s.Command[i] = text(word)
	}
	s.URL, s.Dir = text(s.URL), text(s.Dir)
	for _, m := range []map[string]string{s.Env, s.Headers, s.OAuth} {
		for key, value := range m {
			m[key] = text(value)
		}
	}
	return s
}

type expander struct {
	variables Variables
	err       error
}

func (x *expander) text(text string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "${")
		b.WriteString(before)
		name, rest, closed := strings.Cut(after, "}")
		if !found || !closed {
			if found {
				b.WriteString("${" + after)
			}
			return b.String()
		}
		b.WriteString(x.value(name))
		text = rest
	}
}

func (x *expander) value(name string) string {
	name, usual, has := strings.Cut(name, ":-")
	name = strings.TrimPrefix(name, "env:")
	switch name {
	case "workspaceFolder":
		return x.variables.Dir
	case "userHome":
		return x.variables.Home
	}
	if slices.ContainsFunc(x.variables.Keys, func(k string) bool { return strings.EqualFold(k, name) }) {
		x.fail("%s holds the key of a model's provider, which no server is given", name)
		return ""
	}
	value := x.variables.Getenv(name)
	switch {
	case value == "" && has:
		return usual
	case value == "":
		x.fail("the variable %s is not set", Line(name, 60))
	}
	return value
}

func (x *expander) fail(format string, args ...any) {
	if x.err == nil {
		x.err = fmt.Errorf(format, args...)
	}
}
