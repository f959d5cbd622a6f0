package toolset

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/osfile/ownfile"
	"adze/internal/sandbox/proc"
	"adze/internal/text/jsonc"
	"adze/tool"
)

// Limits of a declaration.
const (
	maxDeclaration = 256 << 10 // per file
	maxDescription = 2000      // in bytes; part of every request
)

// declared is a file that declares a tool, JSON with comments:
//
//	{
//	  "name": "issue",
//	  "description": "Show one issue of the tracker.",
//	  "parameters": {"type": "object", "properties": {"number": {"type": "integer"}, "fields": {"type": "string"}},
//	                 "required": ["number"], "additionalProperties": false},
//	  "command": ["tracker", "show", "--fields={fields}", "--", "{number}"],
//	  "permissions": ["network https://tracker.example.com"],
//	  "timeout": "30s"
//	}
//
// Each element of command is one argument; no shell reads it. {name} is that parameter's value. A
// list that is an element by itself becomes one argument for each item. An element with a missing
// value is omitted. A value that starts with a dash is refused as an entire argument before "--".
type declared struct {
	SchemaURL   string          `json:"$schema"` // for editors; ignored
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Command     []string        `json:"command"`
	Stdin       string          `json:"stdin"`       // "json" passes the arguments as one JSON object, "" nothing
	Permissions []string        `json:"permissions"` // beside execute: "read PATH", "write PATH", "network URL"
	Timeout     json.RawMessage `json:"timeout"`     // "90s"; default and maximum as for bash

	path       string
	holds      func() error // for a project's tool: checks that it is still the allowed one
	needs      []tool.Need
	limit      time.Duration     // from Timeout; 0 means that of bash
	properties map[string]string // parameters with their types, "" if untyped
}

// placeholder is {name} in an argument. Other braces are literal.
var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_-]*)\}`) })

// placeholders returns the parameters in an argument. whole means that it is one parameter and
// nothing else.
func placeholders(arg string) (names []string, whole bool) {
	for _, m := range placeholder().FindAllStringSubmatch(arg, -1) {
		names = append(names, m[1])
	}
	return names, len(names) == 1 && len(arg) == len(names[0])+2
}

// loadDeclared reads and checks one file; every error names it and the fix.
func loadDeclared(path string, shell *Shell) (*declared, error) {
	d := &declared{path: path}
	raw, err := readDeclared(path)
	if err != nil {
		return nil, d.mistake("%w", err)
	}
	return d, d.parse(raw, shell)
}

func (d *declared) parse(raw []byte, shell *Shell) error {
	if _, err := jsonc.Decode(raw, d); err != nil {
		return d.mistake("%s", decodeMistake(err))
	}
	checkTimeout := func() (err error) {
		if d.Timeout == nil {
			return nil
		}
		var text string
		_ = json.Unmarshal(d.Timeout, &text) // other values are no time
		if d.limit, err = time.ParseDuration(text); err != nil || d.limit <= 0 || d.limit > shell.MaxTimeout {
			return fmt.Errorf(`timeout is a time such as "30s" or "2m", at most %s, not %.40s`, shell.MaxTimeout, d.Timeout)
		}
		return nil
	}
	findProgram := func() error { return d.findProgram(shell) }
	for _, check := range []func() error{d.checkName, d.checkSchema, d.checkCommand, d.checkPermissions, checkTimeout, findProgram} {
		if err := check(); err != nil {
			return d.mistake("%w", err)
		}
	}
	return nil
}

func (d *declared) mistake(format string, args ...any) error {
	return fmt.Errorf("tool file "+strings.ReplaceAll(d.path, "%", "%%")+": "+format, args...)
}

func decodeMistake(err error) string {
	text := strings.TrimPrefix(err.Error(), "json: ")
	var syntax *jsonc.SyntaxError
	var twice *jsonc.DuplicateError
	switch {
	case errors.As(err, &syntax):
		text += "; mend the JSON at that place"
	case errors.As(err, &twice):
		text += "; keep one of the two"
	case strings.HasPrefix(text, "unknown field"):
		text += "; the names are name, description, parameters, command, stdin, permissions, timeout"
	}
	return text
}

// readDeclared reads a regular file that nobody else can have written.
func readDeclared(path string) ([]byte, error) {
	raw, err := ownfile.Mine(maxDeclaration).Read(path)
	var foreign *ownfile.Error
	if errors.As(err, &foreign) {
		return nil, fmt.Errorf("%s; %s", foreign.Reason, foreign.Hint)
	}
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	return raw, nil
}

var declaredName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`) })

func (d *declared) checkName() error {
	known := strings.NewReplacer("${workspace}", "", "${directory}", "", "${cwd}", "")
	switch {
	case d.Name == "":
		return errors.New(`name is missing; add "name": "…"`)
	case !declaredName().MatchString(d.Name):
		return fmt.Errorf("%q is no name: want a letter, then up to 63 letters, digits, _ or -", d.Name)
	case strings.TrimSpace(d.Description) == "":
		return errors.New("description is missing; say in one or two sentences what the tool does, for the model")
	case len(d.Description) > maxDescription:
		return fmt.Errorf("description has %d bytes, at most %d; shorten it", len(d.Description), maxDescription)
	case strings.Contains(known.Replace(d.Description), "${"):
		return errors.New("description holds an unknown ${variable}; there are ${workspace}, ${directory} and ${cwd}")
	}
	return nil
}

func (d *declared) checkSchema() error {
	if len(d.Parameters) == 0 {
		return errors.New(`parameters is missing; add "parameters": {"type": "object", "properties": {}}`)
	}
	var schema struct {
		Type       any                           `json:"type"`
		Properties map[string]struct{ Type any } `json:"properties"`
	}
	if err := json.Unmarshal(d.Parameters, &schema); err != nil || schema.Type != "object" {
		return errors.New(`parameters is not the schema of an object; begin it with "type": "object"`)
	}
	d.properties = map[string]string{}
	for name, p := range schema.Properties {
		d.properties[name], _ = p.Type.(string)
	}
	return nil
}

func (d *declared) checkPermissions() error {
	for _, text := range d.Permissions {
		kind, target, _ := strings.Cut(text, " ")
		target = strings.TrimSpace(target)
		switch p := tool.Permission(kind); {
		case p == tool.Execute && target == "":
			continue // always needed
		case p == tool.Read || p == tool.Write:
			d.needs = append(d.needs, tool.Need{Permission: p, Target: orHere(target)})
		case p == tool.Network && target != "":
			d.needs = append(d.needs, tool.Need{Permission: p, Target: target})
		case p == tool.Network:
			return errors.New(`permission network needs an address: "network https://example.com"`)
		default:
			return fmt.Errorf(`unknown permission %q; there are "read PATH", "write PATH" and "network URL", and execute is always needed`, text)
		}
	}
	return nil
}

// findProgram makes a program's path absolute and checks that it exists.
func (d *declared) findProgram(shell *Shell) error {
	program := &d.Command[0]
	if rest, ok := strings.CutPrefix(*program, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return fmt.Errorf("%s: there is no home folder: %w", *program, err)
		}
		*program = filepath.Join(home, rest)
	}
	dir := filepath.Dir(d.path)
	if strings.Contains(*program, "/") && !filepath.IsAbs(*program) {
		*program = filepath.Join(dir, *program)
	}
	if _, err := proc.LookPath(*program, dir, shell.Env); err != nil {
		return fmt.Errorf("the program %s cannot be run: %w; install it, or give its path, which may be relative to this file's folder", *program, err)
	}
	return nil
}

// codeLetter returns an interpreter's option to run the next argument as code, or "" for other
// programs.
func codeLetter(program string) string {
	name := strings.TrimRight(filepath.Base(program), "0123456789.")
	switch {
	case slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "python"}, name):
		return "c"
	case slices.Contains([]string{"perl", "ruby", "node", "lua"}, name):
		return "e"
	}
	return ""
}

// takesCode finds such an option, also combined, as in -ec.
func takesCode(option, letters string) bool {
	if strings.HasPrefix(option, "--") {
		return option == "--command" || option == "--eval"
	}
	return strings.HasPrefix(option, "-") && strings.ContainsAny(option[1:], letters)
}

// checkCommand requires a fixed program, no value where a shell would read it as code, only
// parameters in braces, and each parameter to reach the program.
func (d *declared) checkCommand() error {
	if len(d.Command) == 0 {
		return errors.New(`command is missing; add "command": ["program", "{parameter}"]`)
	}
	switch names, _ := placeholders(d.Command[0]); {
	case len(names) > 0:
		return errors.New("the first element of command is the program and cannot be a parameter; name the program")
	case d.Command[0] == "":
		return errors.New("the first element of command is empty; name the program")
	case d.Stdin != "" && d.Stdin != "json":
		return fmt.Errorf(`stdin is %q; it can be "json" or be left out`, d.Stdin)
	}
	used := map[string]bool{}
	letters, code := "", false
	for _, arg := range d.Command {
		names, whole := placeholders(arg)
		for _, name := range names {
			kind, is := d.properties[name]
			switch {
			case code:
				return fmt.Errorf(`{%s} would be spliced into code that %s runs; pass it as an argument, as in ["sh", "-c", "… \"$1\"", "sh", "{%s}"]`, name, d.Command[0], name)
			case !is:
				return fmt.Errorf("{%s} in command is no parameter; there are: %s", name, cmp.Or(strings.Join(slices.Sorted(maps.Keys(d.properties)), ", "), "none"))
			case kind == "array" && !whole:
				return fmt.Errorf("{%s} is a list, which must be a whole argument; write it as an element of its own", name)
			}
			used[name] = true
		}
		if len(names) == 0 {
			code = letters != "" && takesCode(arg, letters)
			letters += codeLetter(arg)
		}
	}
	for name := range d.properties {
		if !used[name] && d.Stdin == "" {
			return fmt.Errorf(`the parameter %s gets to the program nowhere; use {%s} in command, or add "stdin": "json"`, name, name)
		}
	}
	return nil
}

// argv returns the command of a call. With an error it is as complete as possible, for the gate.
func (d *declared) argv(raw json.RawMessage) (argv []string, err error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return nil, tool.Fail(tool.CodeInvalidArguments, "the arguments are not a JSON object; give an object")
	}
	options := true // until "--"
	for _, arg := range d.Command {
		names, whole := placeholders(arg)
		if slices.ContainsFunc(names, func(name string) bool { return len(values[name]) == 0 || string(values[name]) == "null" }) {
			continue
		}
		args := []string{placeholder().ReplaceAllStringFunc(arg, func(in string) string { return argument(values[in[1:len(in)-1]]) })}
		if whole {
			args = items(values[names[0]])
		}
		for _, text := range args {
			switch {
			case strings.Contains(text, "\x00"):
				err = cmp.Or(err, tool.Fail(tool.CodeInvalidArguments, "an argument holds a NUL character, which no program can be given; leave it out"))
			case whole && options && strings.HasPrefix(text, "-") && values[names[0]][0] != '-': // a number may be negative
				err = cmp.Or(err, tool.Fail(tool.CodeInvalidArguments, "%s begins with a dash, so the program could take it for an option; for a file write ./%.40s", names[0], text))
			}
		}
		argv = append(argv, args...)
		options = options && arg != "--"
	}
	return argv, err
}

// items returns a list's items, or the single value.
func items(raw json.RawMessage) (args []string) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return []string{argument(raw)}
	}
	for _, item := range list {
		args = append(args, argument(item))
	}
	return args
}

// argument returns a string unchanged, and any other value as JSON.
func argument(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && string(raw) != "null" {
		return text
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
