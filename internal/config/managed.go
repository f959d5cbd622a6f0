package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"adze/internal/osfile/ownfile"
	"adze/internal/text/jsonc"
)

// Managed is what the owner of a machine says for all who use adze on it: it only narrows, and
// nothing that a user or a project says takes it back.
type Managed struct {
	Path string   `json:"-"` // if empty, there is no such file
	Deny []string `json:"deny"`
	Ask  []string `json:"ask"`
	// Modes are the permission modes that may be chosen; if empty, all.
	Modes []string `json:"permission_modes"`
	// Worker is the most that adze worker may admit of tasks of others; without it the owner leaves
	// that to its user.
	Worker *Worker `json:"worker"`
	// Sandbox is required, or empty.
	Sandbox string `json:"sandbox"`

	SchemaURL string `json:"$schema"`
}

// Worker is the most that workers on a machine may admit. The fields are those of fleet.Limits.
type Worker struct {
	Modes        []string `json:"permission_modes"`
	SandboxOff   bool     `json:"sandbox_off"`
	Folders      []string `json:"folders"`
	Repositories []string `json:"repositories"`
	Rules        []string `json:"rules"`
}

// LoadManaged reads the file, which must belong to the machine's owner, the user with the number 0,
// and be writable by nobody else, as must its folder: what somebody else could have written is no
// owner's word. A mistake in it stops the start, and an unknown name is one: a misspelt deny would
// forbid nothing.
func LoadManaged(path string) (Managed, error) { return loadManaged(path, 0) }

func loadManaged(path string, owner int) (Managed, error) {
	mistaken := func(format string, args ...any) (Managed, error) {
		return Managed{}, &Error{Path: path, Message: fmt.Sprintf(format, args...), Hint: "the owner of this machine mends it"}
	}
	raw, err := ownfile.Rule{Owner: owner, Most: maxFile, NoLink: true}.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Managed{}, nil
	}
	var foreign *ownfile.Error
	if errors.As(err, &foreign) {
		return mistaken("%s (%s)", foreign.Of(path), foreign.Hint)
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

// ReviewOnce is the setting that stages the changes of a turn for one review when it has ended.
const ReviewOnce = "once"

// SandboxRequired is the setting of the sandbox that nothing takes back.
const SandboxRequired = "required"

// RequireSandbox makes the sandbox required where the owner of the machine wants that. It returns
// an error where the owner or the file requires it, and the file or the flag (empty: not given)
// says otherwise.
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
