package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"adze/internal/text/jsonc"
)

// Project holds a project's own settings, which only add restrictions. Models, keys, a wider mode,
// permissions and tools are configured by the user alone, even for a trusted project.
type Project struct {
	Path string // relative to the workspace; empty if the file does not exist
	Deny []string
	Ask  []string
	// Ignored lists the other names in the file, in order.
	Ignored []string
}

// projectFile is relative to the workspace.
const projectFile = ".adze/config.json"

// LoadProject reads a workspace's project file without following links out of it. A mistake in a
// rule or in the JSON stops the start, since somebody relies on each deny.
func LoadProject(dir string) (Project, error) {
	mistaken := func(what string) (Project, error) {
		return Project{}, &Error{Path: filepath.Join(dir, filepath.FromSlash(projectFile)), Message: what, Hint: "mend the project's file, or remove it"}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Project{}, nil // reported when the workspace is opened
	}
	defer root.Close()
	f, err := root.OpenFile(projectFile, os.O_RDONLY|syscall.O_NONBLOCK, 0) // do not block on a FIFO
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return Project{}, nil
	}
	if err != nil {
		return mistaken("it cannot be read, or is a link out of the project")
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return mistaken(fmt.Sprintf("this is not a regular file of at most %d MiB", maxFile>>20))
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return mistaken("it cannot be read")
	}
	p, err := parseProject(raw)
	if err != nil {
		return mistaken(strings.TrimPrefix(err.Error(), "json: "))
	}
	return p, nil
}

func parseProject(raw []byte) (Project, error) {
	p := Project{Path: projectFile}
	members := map[string]json.RawMessage{}
	if _, err := jsonc.Decode(raw, &members); err != nil {
		return p, err
	}
	for name, value := range members {
		var into *[]string
		switch name {
		case "$schema":
			continue
		case "deny":
			into = &p.Deny
		case "ask":
			into = &p.Ask
		default:
			p.Ignored = append(p.Ignored, name)
			continue
		}
		if json.Unmarshal(value, into) != nil {
			return p, fmt.Errorf("%s must be a list of rules", name)
		}
	}
	slices.Sort(p.Ignored)
	return p, nil
}

// Warning lists the names in the file that are ignored; it returns "" if there are none.
func (p Project) Warning() string {
	if len(p.Ignored) == 0 {
		return ""
	}
	return fmt.Sprintf("%s of this project sets what only you may set, which is ignored: %s; it may only deny and ask", p.Path, strings.Join(p.Ignored, ", "))
}
