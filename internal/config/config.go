// Package config merges the configuration file, the environment and the flags into one struct and
// records where each value came from.
//
// The one rule: flags override the environment, the environment overrides the file, and the file
// overrides the defaults. An invalid value in any of them stops the start with its location; an
// unknown name is only a warning.
//
// Start reading at Load. The file is JSON with comments; schema.json in this folder describes it
// for editors.
//
// A project's file (project.go) can only add restrictions, and so can the machine owner's
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

// Config holds the user's settings for all runs.
type Config struct {
	// SchemaURL enables completion in editors; it is ignored.
	SchemaURL      string              `json:"$schema,omitempty"`
	Model          string              `json:"model,omitempty"`           // provider/name
	TaskModel      string              `json:"task_model,omitempty"`      // provider/name; if empty, the session's model
	TitleModel     string              `json:"title_model,omitempty"`     // provider/name; if empty, the first prompt becomes the title
	Fallback       []string            `json:"fallback,omitempty"`        // provider/name, tried in order while a server fails
	PermissionMode string              `json:"permission_mode,omitempty"` // ask, auto or plan
	Review         string              `json:"review,omitempty"`          // each or once
	Sandbox        Sandbox             `json:"sandbox,omitzero"`          // "auto", or an object
	Claims         string              `json:"claims,omitempty"`          // show, send or off
	Allow          []string            `json:"allow,omitempty"`
	Ask            []string            `json:"ask,omitempty"`
	Deny           []string            `json:"deny,omitempty"`
	MaxTurns       int                 `json:"max_turns,omitempty"`
	MaxTime        Duration            `json:"max_time,omitempty" retired:"the flag --max-time bounds a prompt"`
	Environment    []string            `json:"environment,omitempty"`  // variables passed to commands
	ShowSecrets    bool                `json:"show_secrets,omitempty"` // do not mask keys and passwords for the model
	Providers      map[string]Provider `json:"providers,omitempty"`
	Tools          Tools               `json:"tools,omitempty" retired:"up to 22 tools are all shown, and of more those that fit the prompt"`
	Search         Search              `json:"search,omitempty"`
	Languages      LanguageServers     `json:"language_servers,omitempty"`
	Formatters     Formatters          `json:"formatters,omitempty"` // run after edits
	MCP            MCP                 `json:"mcp,omitempty"`
	Undo           Undo                `json:"undo,omitempty"`
	Sessions       Sessions            `json:"sessions,omitempty"`
	Worktree       Worktree            `json:"worktree,omitempty"`
	Models         map[string]Model    `json:"models,omitempty"` // by provider/name; a trailing * matches any rest
	Interface      Interface           `json:"interface,omitempty"`
	Keys           map[string]Bound    `json:"keys,omitempty"` // by interface action, see adze help keys

	origins  map[string]string
	warnings []string
	retired  []string
}

// Warnings returns harmless problems in the file, such as unknown names, one per line.
func (c Config) Warnings() []string { return c.warnings }

// Retired returns the file's removed or deprecated settings with their replacements, one per line.
func (c Config) Retired() []string { return c.retired }

// Warn adds a warning.
func (c *Config) Warn(text string) { c.warnings = append(c.warnings, text) }

// Tools limits the tools shown to a model.
type Tools struct {
	// OfferAbove is the number of tools up to which all are shown; above it they are selected to
	// fit the prompt.
	OfferAbove int `json:"offer_above,omitempty"`
}

// Sessions holds settings for stored sessions.
type Sessions struct {
	Keep Retention `json:"keep,omitempty"`
}

// Retention limits how long sessions are stored; 0 means forever. Open sessions and those tagged
// keep stay.
type Retention struct {
	Days  int `json:"days,omitempty"` // since last use
	Count int `json:"count,omitempty" retired:"sessions.keep.days says how long they stay"`
}

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

// UnmarshalJSON parses "90s".
func (d *Duration) UnmarshalJSON(raw []byte) error {
	var text string
	_ = json.Unmarshal(raw, &text) // a number is an error
	parsed, err := time.ParseDuration(text)
	if err != nil || parsed < 0 {
		return fmt.Errorf(`%s is not a duration: a duration is a string such as "90s" or "10m"`, raw)
	}
	*d = Duration(parsed)
	return nil
}

func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// Origin returns the source of a value, given its JSON name: "default", "flag --model", or the
// file's path.
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

// Error is an invalid configuration, with its location and the next step.
type Error struct {
	Path    string
	Message string
	Hint    string
}

func (e *Error) Error() string { return e.Path + ": " + e.Message }

// File returns the path of the user's configuration: $ADZE_CONFIG, else config.json in dir.
func File(getenv func(string) string, dir string) string {
	if path := getenv("ADZE_CONFIG"); path != "" {
		return path
	}
	return filepath.Join(dir, "config.json")
}

const maxFile = 4 << 20

// Load reads the file; a missing file counts as empty.
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

// Read returns the file's bytes if only the user can have written it.
func Read(path string) ([]byte, error) {
	raw, err := ownfile.Mine(maxFile).Read(path)
	var foreign *ownfile.Error
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return raw, err
	case errors.As(err, &foreign):
		return nil, &Error{Path: path, Message: foreign.ReasonAfter(path), Hint: foreign.Hint}
	}
	return nil, &Error{Path: path, Message: err.Error(), Hint: "make the file readable, remove it, or name a folder of yours in XDG_CONFIG_HOME"}
}

// Parse parses JSON with comments and trailing commas; an empty file is valid. A duplicate name is
// an error: a second, empty deny must not go unnoticed. An unknown name is a warning. A name with a
// retired tag still works and is reported once.
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
	_ = json.Unmarshal(standard, &present)
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
