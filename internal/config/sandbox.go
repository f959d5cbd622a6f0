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
	Use   string   `json:"use,omitempty"`   // auto, required, off
	Read  []string `json:"read,omitempty"`  // files and folders that commands may read
	Write []string `json:"write,omitempty"` // files and folders that commands may change
}

// UnmarshalJSON reads "required" and {"use": "required", "read": ["~/data"]}.
func (s *Sandbox) UnmarshalJSON(raw []byte) error {
	if bytes.HasPrefix(raw, []byte(`"`)) {
		return json.Unmarshal(raw, &s.Use)
	}
	type plain Sandbox // without this method
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields() // a misspelt name would show or hide something unnoticed
	if err := decoder.Decode((*plain)(s)); err != nil {
		return fmt.Errorf("sandbox: %s; write \"auto\", \"required\" or \"off\", or an object with use, read and write", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// MarshalJSON writes a text alone where there is nothing else to say.
func (s Sandbox) MarshalJSON() ([]byte, error) {
	if len(s.Read) == 0 && len(s.Write) == 0 {
		return json.Marshal(s.Use)
	}
	type plain Sandbox
	return json.Marshal(plain(s))
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
