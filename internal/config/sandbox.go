package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Sandbox says when commands run in the sandbox, and what they see there beside the workspace. In
// the file it is a text alone, or an object.
type Sandbox struct {
	Use   string   `json:"use,omitempty"`   // required (written as on, too), off or auto; empty is auto
	Read  []string `json:"read,omitempty"`  // files and folders that commands may read
	Write []string `json:"write,omitempty"` // files and folders that commands may change
}

// UnmarshalJSON reads "required" and {"use": "required", "read": ["~/data"]}.
func (s *Sandbox) UnmarshalJSON(raw []byte) error {
	if bytes.HasPrefix(raw, []byte(`"`)) {
		err := json.Unmarshal(raw, &s.Use)
		s.Use = SandboxUse(s.Use)
		return err
	}
	type plain Sandbox // without this method
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields() // a misspelt name would show or hide something unnoticed
	if err := decoder.Decode((*plain)(s)); err != nil {
		return fmt.Errorf("sandbox: %s; write \"on\" or \"off\", or an object with use, read and write", strings.TrimPrefix(err.Error(), "json: "))
	}
	s.Use = SandboxUse(s.Use)
	return nil
}

// SandboxUse is the setting that a word of a user stands for: on is required.
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

// Places are paths of Read or Write, free of ~.
func (s Sandbox) Places(list []string, home string) (out []string) {
	for _, place := range list {
		if rest, ok := strings.CutPrefix(place, "~/"); ok {
			place = filepath.Join(home, rest)
		}
		out = append(out, filepath.Clean(place))
	}
	return out
}
