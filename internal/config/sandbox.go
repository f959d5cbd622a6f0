package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Sandbox configures when commands run in the sandbox and which files outside the workspace they
// see. In the file it is a string or an object.
type Sandbox struct {
	Use   string   `json:"use,omitempty"`   // required (or on), off or auto; empty means auto
	Read  []string `json:"read,omitempty"`  // files and folders that commands may read
	Write []string `json:"write,omitempty"` // files and folders that commands may change
}

// UnmarshalJSON parses "required" and {"use": "required", "read": ["~/data"]}.
func (s *Sandbox) UnmarshalJSON(raw []byte) error {
	if bytes.HasPrefix(raw, []byte(`"`)) {
		err := json.Unmarshal(raw, &s.Use)
		s.Use = SandboxUse(s.Use)
		return err
	}
	type plain Sandbox // avoids recursion
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields() // a misspelled name would silently show or hide something
	if err := decoder.Decode((*plain)(s)); err != nil {
		return fmt.Errorf("sandbox: %s; write \"on\" or \"off\", or an object with use, read and write", strings.TrimPrefix(err.Error(), "json: "))
	}
	s.Use = SandboxUse(s.Use)
	return nil
}

// SandboxUse normalizes a setting: on means required.
func SandboxUse(word string) string {
	if word == "on" {
		return SandboxRequired
	}
	return word
}

func (s Sandbox) check(path string) error {
	for _, place := range append(slices.Clone(s.Read), s.Write...) {
		if !filepath.IsAbs(place) && !strings.HasPrefix(place, "~/") {
			return &Error{Path: path, Message: fmt.Sprintf("sandbox.read and sandbox.write: %q is not an absolute path", place), Hint: "write it from / or ~/ on"}
		}
	}
	return nil
}

// Places returns the paths in Read or Write with ~ expanded.
func (s Sandbox) Places(list []string, home string) (out []string) {
	for _, place := range list {
		if rest, ok := strings.CutPrefix(place, "~/"); ok {
			place = filepath.Join(home, rest)
		}
		out = append(out, filepath.Clean(place))
	}
	return out
}
