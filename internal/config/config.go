// Package config turns the configuration file, the environment and the flags into one struct, and
// knows where each value came from.
//
// The one rule: flags win over the environment, the environment over the file, the file over the
// defaults; a mistake in any of them stops the start and names its place, a name that means nothing
// is only told.
//
// Start reading at Load. The file is JSON with comments; schema.json beside this file describes it
// for editors.
//
// A project's file (project.go) only narrows, and so does the one of the machine's owner
// (managed.go).
//
// Known limits: none that are known.
package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"adze/internal/osfile/ownfile"
	"adze/internal/text/jsonc"
)

// Config is what a user can set for all runs.
type Config struct {
	// SchemaURL lets editors complete the file; it is ignored.
	SchemaURL      string              `json:"$schema,omitempty"`
	Model          string              `json:"model,omitempty"`           // provider/name
	TaskModel      string              `json:"task_model,omitempty"`      // provider/name; if empty, tasks run with the session's model
	TitleModel     string              `json:"title_model,omitempty"`     // provider/name; if empty, a session is named after its first prompt
	PermissionMode string              `json:"permission_mode,omitempty"` // ask, auto or plan
	Review         string              `json:"review,omitempty"`          // each or once
	Sandbox        Sandbox             `json:"sandbox,omitzero"`          // "auto", or an object
	Claims         string              `json:"claims,omitempty"`          // show, send, off
	Allow          []string            `json:"allow,omitempty"`
	Ask            []string            `json:"ask,omitempty"`
	Deny           []string            `json:"deny,omitempty"`
	MaxTurns       int                 `json:"max_turns,omitempty"`
	MaxTime        Duration            `json:"max_time,omitempty" retired:"the flag --max-time bounds a prompt"`
	Environment    []string            `json:"environment,omitempty"`  // names let through to commands
	ShowSecrets    bool                `json:"show_secrets,omitempty"` // the model gets keys and passwords as they are
	Providers      map[string]Provider `json:"providers,omitempty"`
	Tools          Tools               `json:"tools,omitempty" retired:"up to 22 tools are all shown, and of more those that fit the prompt"`
	Search         Search              `json:"search,omitempty"`
	Languages      LanguageServers     `json:"language_servers,omitempty"`
	Formatters     Formatters          `json:"formatters,omitempty"` // after edits
	MCP            MCP                 `json:"mcp,omitempty"`
	Undo           Undo                `json:"undo,omitempty"`
	Sessions       Sessions            `json:"sessions,omitempty"`
	Worktree       Worktree            `json:"worktree,omitempty"`
	Models         map[string]Model    `json:"models,omitempty"` // by provider/name; a last * stands for any rest
	Interface      Interface           `json:"interface,omitempty"`
	Keys           map[string]Bound    `json:"keys,omitempty"` // of the interface, by the action that adze help keys lists

	origins  map[string]string
	warnings []string
	retired  []string
}

// Warnings are what in the file is of no use and does no harm, a line each: names that mean
// nothing.
func (c Config) Warnings() []string { return c.warnings }

// Retired are the settings of the file that went, or go with the next release, a line each with
// what serves instead.
func (c Config) Retired() []string { return c.retired }

// Warn adds one.
func (c *Config) Warn(text string) { c.warnings = append(c.warnings, text) }

// Tools says which of many tools a model is shown.
type Tools struct {
	// OfferAbove is how many tools are all shown; above it they are chosen by what fits the prompt.
	OfferAbove int `json:"offer_above,omitempty"`
}

// Sessions says what becomes of stored sessions.
type Sessions struct {
	Keep Retention `json:"keep,omitempty"`
}

// Retention says how long they stay; if 0, for ever. One that is open or tagged keep stays.
type Retention struct {
	Days  int `json:"days,omitempty"` // since they were last used
	Count int `json:"count,omitempty" retired:"sessions.keep.days says how long they stay"`
}

// check finds values that make no sense.
func (c Config) check(path string) error {
	for _, n := range []struct {
		name  string
		value int
	}{{"sessions.keep.days", c.Sessions.Keep.Days}, {"sessions.keep.count", c.Sessions.Keep.Count}} {
		if n.value < 0 {
			return &Error{Path: path, Message: fmt.Sprintf("%s is %d", n.name, n.value), Hint: "give a number above 0, or leave it out"}
		}
	}
	if !slices.Contains([]string{"", "each", ReviewOnce}, c.Review) {
		return &Error{Path: path, Message: fmt.Sprintf("review is %q", c.Review), Hint: "write each or once"}
	}
	if !slices.Contains([]string{"", "show", "send", "off"}, c.Claims) {
		return &Error{Path: path, Message: fmt.Sprintf("claims is %q", c.Claims), Hint: "write show, send or off"}
	}
	return nil
}

// Duration is written as in Go: "90s", "10m".
type Duration time.Duration

// UnmarshalJSON reads "90s"; MarshalJSON writes it.
func (d *Duration) UnmarshalJSON(raw []byte) error {
	var text string
	_ = json.Unmarshal(raw, &text) // a number is no duration
	parsed, err := time.ParseDuration(text)
	if err != nil || parsed < 0 {
		return fmt.Errorf(`%s is not a duration: a duration is a string such as "90s" or "10m"`, raw)
	}
	*d = Duration(parsed)
	return nil
}

func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// Origin says where a value came from, by its JSON name: "default", "flag --model", or the file's
// path.
func (c Config) Origin(name string) string {
	if from, ok := c.origins[name]; ok {
		return from
	}
	return "default"
}

// Set records that a flag or variable replaced a value.
func (c *Config) Set(name, origin string) {
	if c.origins == nil {
		c.origins = map[string]string{}
	}
	c.origins[name] = origin
}

// Error is a mistake in the configuration: what, where, and the next move.
type Error struct {
	Path    string
	Message string
	Hint    string
}

func (e *Error) Error() string { return e.Path + ": " + e.Message }

// File is where the user's configuration is: $ADZE_CONFIG, else config.json in dir.
func File(getenv func(string) string, dir string) string {
	if path := getenv("ADZE_CONFIG"); path != "" {
		return path
	}
	return filepath.Join(dir, "config.json")
}

// maxFile bounds the file; nobody writes more by hand.
const maxFile = 4 << 20

// Load reads the file; one that does not exist is an empty one.
func Load(path string) (Config, error) {
	raw, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, nil
	}
	if err != nil {
		return Config{}, err
	}
	return Parse(path, raw)
}

// Read reads the file as it is, if only the user can have written it.
func Read(path string) ([]byte, error) {
	raw, err := ownfile.Mine(maxFile).Read(path)
	var foreign *ownfile.Error
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return raw, err
	case errors.As(err, &foreign):
		return nil, &Error{Path: path, Message: foreign.Of(path), Hint: foreign.Hint}
	}
	return nil, &Error{Path: path, Message: err.Error(), Hint: "make the file readable, or remove it"}
}

// Parse reads JSON with comments and trailing commas; a file in which nothing stands is an empty
// one. A name that stands twice is a mistake: a second, empty deny may not go unnoticed. An unknown
// name is a warning. A name with a tag retired still holds, and is told once.
func Parse(path string, raw []byte) (Config, error) {
	var c Config
	standard, unknown, err := jsonc.DecodeKnown(raw, &c)
	if err != nil {
		return Config{}, mistake(path, err)
	}
	if c.warnings, c.retired, err = judge(path, unknown); err != nil {
		return Config{}, err
	}
	for _, check := range []func(path string) error{c.check, c.checkModels, c.checkProviders, c.checkSearch, c.checkLanguages, c.checkFormatters, c.checkMCP, c.Interface.check, c.Sandbox.check} {
		if err := check(path); err != nil {
			return Config{}, err
		}
	}
	var present map[string]json.RawMessage
	_ = json.Unmarshal(standard, &present) // it decoded a moment ago
	for name := range present {
		c.Set(name, path)
	}
	return c, nil
}

func mistake(path string, err error) error {
	e := &Error{Path: path, Message: strings.TrimPrefix(err.Error(), "json: "), Hint: "change the value"}
	var kind *json.UnmarshalTypeError
	var twice *jsonc.DuplicateError
	var syntax *jsonc.SyntaxError
	switch {
	case errors.As(err, &twice):
		e.Hint = "keep one of the two: only the last would count"
	case errors.As(err, &syntax):
		e.Hint = "mend the JSON at that place"
	case errors.As(err, &kind):
		e.Message = fmt.Sprintf("%s must be %s, is %s", cmp.Or(kind.Field, "the whole file"), plain(kind.Type), kind.Value)
	}
	return e
}

func plain(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int:
		return "a whole number"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}
