package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"adze/internal/osfile/ownfile"
	"adze/internal/text/jsonc"
)

// Managed holds the machine owner's settings for all users. They only add restrictions, which users
// and projects cannot lift.
type Managed struct {
	Path string   `json:"-"` // empty if the file does not exist
	Deny []string `json:"deny"`
	Ask  []string `json:"ask"`
	// Modes are the allowed permission modes; if empty, all.
	Modes []string `json:"permission_modes"`
	// Worker limits what adze worker accepts from others; nil leaves it to the user.
	Worker *Worker `json:"worker"`
	// Sandbox is "required" or empty.
	Sandbox string `json:"sandbox"`

	SchemaURL string `json:"$schema"`
}

// Worker limits the workers on a machine. The fields are those of fleet.Limits.
type Worker struct {
	Modes        []string `json:"permission_modes"`
	SandboxOff   bool     `json:"sandbox_off"`
	Folders      []string `json:"folders"`
	Repositories []string `json:"repositories"`
	Rules        []string `json:"rules"`
}

// LoadManaged reads the file. The file and its folder must belong to user 0 and be writable by
// nobody else; otherwise the content may not be the owner's. Any mistake stops the start, including
// an unknown name: a misspelled deny would forbid nothing.
func LoadManaged(path string) (Managed, error) { return loadManaged(path, 0) }

func loadManaged(path string, owner int) (Managed, error) {
	mistaken := func(format string, args ...any) (Managed, error) {
		return Managed{}, &Error{Path: path, Message: fmt.Sprintf(format, args...), Hint: "the owner of this machine mends it"}
	}
	raw, err := ownfile.Rule{Owner: owner, MaxSize: maxFile, NoLink: true}.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Managed{}, nil
	}
	var foreign *ownfile.Error
	if errors.As(err, &foreign) {
		return mistaken("%s (%s)", foreign.ReasonAfter(path), foreign.Hint)
	}
	if err != nil {
		return mistaken("%v", err)
	}
	m := Managed{}
	if _, err := jsonc.Decode(raw, &m); err != nil {
		return mistaken("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if m.Sandbox = SandboxUse(m.Sandbox); m.Sandbox != "" && m.Sandbox != SandboxRequired {
		return mistaken("sandbox is %q, and can only be on", m.Sandbox)
	}
	m.Path = path
	return m, nil
}

// ReviewOnce is the setting that stages a turn's changes for one review at its end.
const ReviewOnce = "once"

// SandboxRequired is the sandbox setting that cannot be overridden.
const SandboxRequired = "required"

// RequireSandbox makes the sandbox required if the machine's owner does. It returns an error if the
// owner or the file requires it and the file or the flag (empty if not given) disagrees.
func (c *Config) RequireSandbox(owner Managed, flag string) error {
	by := ""
	for _, said := range []struct{ by, setting string }{{owner.Path, owner.Sandbox}, {c.Origin("sandbox"), c.Sandbox.Use}, {"--sandbox", flag}} {
		switch {
		case said.setting == SandboxRequired && by == "":
			by = said.by
		case said.setting != SandboxRequired && said.setting != "" && by != "":
			return &Error{Path: said.by, Message: fmt.Sprintf("the sandbox is set to %s, but %s requires it, and what is required cannot be taken back", said.setting, by),
				Hint: "leave it out, or change " + by}
		}
	}
	if owner.Sandbox == SandboxRequired {
		c.Sandbox.Use = SandboxRequired
		c.Set("sandbox", owner.Path)
	}
	return nil
}
