package config

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// LanguageServers enables language servers to check edits and adds servers to the known ones.
type LanguageServers struct {
	Use     string                    `json:"use,omitempty"` // auto, on or off
	Servers map[string]LanguageServer `json:"servers,omitempty"`
}

// LanguageServer configures one server; for a known one, only differences are needed.
type LanguageServer struct {
	Command  []string          `json:"command,omitempty"`
	Files    map[string]string `json:"files,omitempty"`   // maps a file extension such as .go to the protocol's language id
	Options  json.RawMessage   `json:"options,omitempty"` // sent as initializationOptions
	Disabled bool              `json:"off,omitempty"`
}

// Values for LanguageServers.Use; empty means auto.
const (
	LanguagesAuto = "auto"
	LanguagesOn   = "on"
	LanguagesOff  = "off"
)

func (c Config) checkLanguages(path string) error {
	uses := []string{"", LanguagesAuto, LanguagesOn, LanguagesOff}
	if use := c.Languages.Use; !slices.Contains(uses, use) {
		return &Error{Path: path, Message: fmt.Sprintf("language_servers.use is %q", use), Hint: "want auto, on or off"}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Languages.Servers)) {
		at := "language_servers.servers." + name
		if one := c.Languages.Servers[name]; !one.Disabled && !slices.Contains(knownServers(), name) && (len(one.Command) == 0 || len(one.Files) == 0) {
			return &Error{Path: path, Message: at + " is not known, and has no command or no files", Hint: `say both: "command": ["zls"], "files": {".zig": "zig"}`}
		}
		if err := checkEndings(path, at, maps.Keys(c.Languages.Servers[name].Files)); err != nil {
			return err
		}
	}
	return nil
}

// knownServers returns the servers that need no command or files setting.
func knownServers() []string {
	return []string{"gopls", "typescript", "typescript-language-server", "pyright", "rust-analyzer", "clangd"}
}

// Formatter is a program that rewrites a file after an edit.
type Formatter struct {
	Files   []string `json:"files"`   // extensions with the dot
	Command []string `json:"command"` // reads standard input, writes standard output; {file} is the file's path
}

// Formatters maps names to programs.
type Formatters map[string]Formatter

func (c Config) checkFormatters(path string) error {
	for _, name := range slices.Sorted(maps.Keys(c.Formatters)) {
		one := c.Formatters[name]
		if len(one.Command) == 0 || len(one.Files) == 0 {
			return &Error{Path: path, Message: "formatters." + name + " has no command or no files", Hint: `say both: "command": ["gofmt"], "files": [".go"]`}
		}
		if err := checkEndings(path, "formatters."+name, slices.Values(one.Files)); err != nil {
			return err
		}
	}
	return nil
}

// checkEndings rejects file extensions that can never match.
func checkEndings(path, at string, endings iter.Seq[string]) error {
	for ending := range endings {
		if !strings.HasPrefix(ending, ".") || ending != strings.ToLower(ending) {
			return &Error{Path: path, Message: fmt.Sprintf("%s.files has %q", at, ending), Hint: `write endings with their point and in small letters: ".go"`}
		}
	}
	return nil
}
