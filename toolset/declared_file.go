package toolset

import (
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

// Bounds of a declaration.
const (
	maxDeclaration = 256 << 10 // bytes of a file
	maxDescription = 2000      // bytes; paid for at every request
)

// declared is a file that declares a tool, JSON with comments:
//
//	{
//	  "name": "issue",
//	  "description": "Show one issue of the tracker.",
//	  "parameters": {"type": "object", "properties": {"number": {"type": "integer"}, "fields": {"type": "array", "items": {"type": "string"}}},
//	                 "required": ["number"], "additionalProperties": false},
//	  "command": ["tracker", "show", ["--fields", "{fields}"], "--", "{number}"],
//	  "permissions": ["network https://tracker.example.com"],
//	  "timeout": "30s",
//	  "expose": ["number"]
//	}
//
// Each element of command is one argument; no shell reads it. {name} is the value of that
// parameter, as a whole argument or inside one; a list that is a whole argument becomes one
// argument an item. An element whose value is missing is left out; a list of elements is left out
// as a whole. A text that begins with a dash is refused as a whole argument before "--", unless
// allow_dashes is true.
type declared struct {
	SchemaURL   string          `json:"$schema"` // for editors; ignored
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Command     []part          `json:"command"`
	Stdin       string          `json:"stdin"`       // "json": the arguments as one JSON object; if "", nothing
	Permissions []string        `json:"permissions"` // beside execute: "read PATH", "write PATH", "network URL"
	Timeout     seconds         `json:"timeout"`     // "90s"; default and most as for bash
	Expose      []string        `json:"expose"`      // parameters that may be logged; none by default
	Workdir     string          `json:"workdir"`     // folder of the workspace
	AllowDashes bool            `json:"allow_dashes"`

	path       string
	holds      func() error // of a project's tool: whether it still is what the user allowed
	needs      []tool.Need
	properties map[string]string // the parameters with their types, "" for one without
}

// seconds is written as in Go: "90s", "2m".
type seconds time.Duration

// UnmarshalJSON reads "90s".
func (s *seconds) UnmarshalJSON(raw []byte) error {
	var text string
	d, err := time.Duration(0), json.Unmarshal(raw, &text)
	if err == nil {
		d, err = time.ParseDuration(text)
	}
	if err != nil || d <= 0 {
		return fmt.Errorf(`timeout is a time such as "30s" or "2m", not %.40s`, raw)
	}
	*s = seconds(d)
	return nil
}

// loadDeclared reads and checks one file; every error names it and what to mend.
func loadDeclared(path string, shell *Shell) (*declared, error) {
	d := &declared{path: path}
	raw, err := readDeclared(path)
	if err != nil {
		return nil, d.mistake("%w", err)
	}
	return d, d.parse(raw, shell)
}

// parse reads and checks a declaration.
func (d *declared) parse(raw []byte, shell *Shell) error {
	if _, err := jsonc.Decode(raw, d); err != nil {
		return d.mistake("%s", decodeMistake(err))
	}
	for _, check := range []func() error{d.checkName, d.checkSchema, d.checkCommand, d.checkUse, d.checkPermissions, d.checkRest} {
		if err := check(); err != nil {
			return d.mistake("%w", err)
		}
	}
	if limit := shell.MaxTimeout; time.Duration(d.Timeout) > limit {
		return d.mistake("timeout is %s, at most %s; lower it", time.Duration(d.Timeout), limit)
	}
	if err := d.findProgram(shell); err != nil {
		return d.mistake("%w", err)
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
		text += "; the names are name, description, parameters, command, stdin, permissions, timeout, expose, workdir, allow_dashes"
	}
	return text
}

// parameters names the parameters, for a mistake.
func (d *declared) parameters() string {
	return cmp.Or(strings.Join(slices.Sorted(maps.Keys(d.properties)), ", "), "none")
}

// readDeclared reads a regular file that nobody else can have written.
func readDeclared(path string) ([]byte, error) {
	raw, err := ownfile.Mine(maxDeclaration).Read(path)
	var foreign *ownfile.Error
	if errors.As(err, &foreign) {
		return nil, fmt.Errorf("%s; %s", foreign.Why, foreign.Hint)
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

func (d *declared) checkRest() error {
	if d.Stdin != "" && d.Stdin != "json" {
		return fmt.Errorf(`stdin is %q; it can be "json" or be left out`, d.Stdin)
	}
	if d.Workdir != "" && !filepath.IsLocal(d.Workdir) {
		return fmt.Errorf("workdir %q is not below the workspace; give a relative path", d.Workdir)
	}
	for _, name := range d.Expose {
		if _, is := d.properties[name]; !is {
			return fmt.Errorf("expose names %q, which is no parameter; there are: %s", name, d.parameters())
		}
		// The metadata of a run has fields of these names, and they hold the other arguments.
		if slices.Contains([]string{"command", "tail", "file", "workdir"}, name) {
			return fmt.Errorf("a parameter named %s cannot be exposed; rename it", name)
		}
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

// findProgram makes the program's path absolute where the file gives one, and wants it to be there.
func (d *declared) findProgram(shell *Shell) error {
	program := &d.Command[0].words[0].texts[0]
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

// checkCommand wants a fixed program, and no value where a shell would read it as code.
func (d *declared) checkCommand() error {
	if len(d.Command) == 0 || len(d.Command[0].words) == 0 {
		return errors.New(`command is missing; add "command": ["program", "{parameter}"]`)
	}
	program := d.Command[0].words[0]
	switch {
	case len(program.names) > 0 || d.Command[0].group:
		return errors.New("the first element of command is the program and cannot be a parameter or a list; name the program")
	case program.texts[0] == "":
		return errors.New("the first element of command is empty; name the program")
	}
	letter, code := "", false
	for _, w := range d.words() {
		if code && len(w.names) > 0 {
			return fmt.Errorf(`{%s} would be spliced into code that %s runs; pass it as an argument, as in ["sh", "-c", "… \"$1\"", "sh", "{%s}"]`,
				w.names[0], program.texts[0], w.names[0])
		}
		if len(w.names) == 0 {
			code = letter != "" && takesCode(w.texts[0], letter)
			letter += codeLetter(w.texts[0])
		}
	}
	return nil
}

// words lists the arguments of a command in order, those of groups too.
func (d *declared) words() (all []word) {
	for _, p := range d.Command {
		all = append(all, p.words...)
	}
	return all
}

// codeLetter is the option that makes an interpreter run the next argument as code, "" for other
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

// takesCode finds such an option, also among others, as in -ec.
func takesCode(option, letters string) bool {
	if strings.HasPrefix(option, "--") {
		return option == "--command" || option == "--eval"
	}
	return strings.HasPrefix(option, "-") && strings.ContainsAny(option[1:], letters)
}

// checkUse wants every placeholder to be a parameter, and every parameter to get to the program.
func (d *declared) checkUse() error {
	used := map[string]bool{}
	for _, w := range d.words() {
		_, whole := w.whole()
		for _, name := range w.names {
			if _, is := d.properties[name]; !is {
				return fmt.Errorf("{%s} in command is no parameter; there are: %s", name, d.parameters())
			}
			if d.properties[name] == "array" && !whole {
				return fmt.Errorf("{%s} is a list, which must be a whole argument; write it as an element of its own", name)
			}
			used[name] = true
		}
	}
	for name := range d.properties {
		if !used[name] && d.Stdin == "" {
			return fmt.Errorf(`the parameter %s gets to the program nowhere; use {%s} in command, or add "stdin": "json"`, name, name)
		}
	}
	return nil
}
