package config

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// LanguageServers say whether servers of languages check edits, and which there are beside the
// known ones.
type LanguageServers struct {
	Use     string                    `json:"use,omitempty"` // auto, on, off
	Servers map[string]LanguageServer `json:"servers,omitempty"`
}

// LanguageServer is one server; of a known one only what differs is said.
type LanguageServer struct {
	Command []string          `json:"command,omitempty"`
	Files   map[string]string `json:"files,omitempty"`   // file ending, such as .go, to the language's id in the protocol
	Options json.RawMessage   `json:"options,omitempty"` // its initializationOptions
	Off     bool              `json:"off,omitempty"`
}

// The values of LanguageServers.Use; empty is auto.
const (
	LanguagesAuto = "auto"
	LanguagesOn   = "on"
	LanguagesOff  = "off"
)

// checkLanguages finds what no server could be started by.
func (c Config) checkLanguages(path string) error {
	uses := []string{"", LanguagesAuto, LanguagesOn, LanguagesOff}
	if use := c.Languages.Use; !slices.Contains(uses, use) {
		return &Error{Path: path, Message: fmt.Sprintf("language_servers.use is %q", use), Hint: "want auto, on or off"}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Languages.Servers)) {
		at := "language_servers.servers." + name
		if one := c.Languages.Servers[name]; !one.Off && !slices.Contains(knownServers(), name) && (len(one.Command) == 0 || len(one.Files) == 0) {
			return &Error{Path: path, Message: at + " is not known, and has no command or no files", Hint: `say both: "command": ["zls"], "files": {".zig": "zig"}`}
		}
		if err := checkEndings(path, at, maps.Keys(c.Languages.Servers[name].Files)); err != nil {
			return err
		}
	}
	return nil
}

// knownServers are those that need no command and no files of their own.
func knownServers() []string {
	return []string{"gopls", "typescript", "typescript-language-server", "pyright", "rust-analyzer", "clangd"}
}

// Formatter is a program that rewrites a file after an edit.
type Formatter struct {
	Files   []string `json:"files"`   // endings with their point
	Command []string `json:"command"` // reads standard input, writes standard output; {file} is the file's path
}

// Formatters are programs by name.
type Formatters map[string]Formatter

// checkFormatters finds what nothing could be formatted by.
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

// checkEndings finds a file ending that no file would have as it is compared.
func checkEndings(path, at string, endings iter.Seq[string]) error {
	for ending := range endings {
		if !strings.HasPrefix(ending, ".") || ending != strings.ToLower(ending) {
			return &Error{Path: path, Message: fmt.Sprintf("%s.files has %q", at, ending), Hint: `write endings with their point and in small letters: ".go"`}
		}
	}
	return nil
}
