package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/jsonc"
)

// Managed is what the owner of a machine says for all who use adze on it: it only narrows, and nothing that a person or a
// project says takes it back.
type Managed struct {
	Path string   `json:"-"` // empty: there is no such file
	Deny []string `json:"deny"`
	Ask  []string `json:"ask"`
	// Modes are the permission modes that may be chosen; empty: all.
	Modes []string `json:"permission_modes"`

	SchemaURL string `json:"$schema"`
}

// LoadManaged reads the file, which must belong to the machine's owner, the user with the number 0, and be writable
// by nobody else, as must its folder: what somebody else could have written is no owner's word. A mistake in it stops the
// start, and an unknown name is one: a misspelt deny would forbid nothing.
func LoadManaged(path string) (Managed, error) { return loadManaged(path, 0) }

func loadManaged(path string, owner uint32) (Managed, error) {
	mistaken := func(format string, args ...any) (Managed, error) {
		return Managed{}, &Error{Path: path, Message: fmt.Sprintf(format, args...), Hint: "the owner of this machine mends it"}
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Managed{}, nil
	}
	if err != nil {
		return mistaken("it cannot be looked at: %v", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return mistaken("this is no regular file of at most %d MiB", maxFile>>20)
	}
	for _, name := range []string{filepath.Dir(path), path} {
		if why := foreign(name, owner); why != "" {
			return mistaken("%s %s", name, why)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return mistaken("it cannot be read: %v", err)
	}
	m := Managed{}
	if _, err := jsonc.Decode(raw, &m); err != nil {
		return mistaken("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	m.Path = path
	return m, nil
}
