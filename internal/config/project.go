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

// Project is what a project's own file may say: it only narrows. Where a model is, its keys, a
// wider mode, what is allowed and what its tools may do are its person's to say, whatever they
// trust of the project.
type Project struct {
	Path string // relative to the workspace; if empty, there is no such file
	Deny []string
	Ask  []string
	// Ignored are the other names in the file, in order: each is left out.
	Ignored []string
}

// projectFile is where it stands, below the workspace.
const projectFile = ".adze/config.json"

// LoadProject reads the project's file in a workspace; no link leads out of it. A mistake in a rule
// or the JSON stops the start: who wrote a deny counts on it.
func LoadProject(dir string) (Project, error) {
	mistaken := func(what string) (Project, error) {
		return Project{}, &Error{Path: filepath.Join(dir, filepath.FromSlash(projectFile)), Message: what, Hint: "mend the project's file, or remove it"}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Project{}, nil // it is reported where the workspace is opened
	}
	defer root.Close()
	f, err := root.OpenFile(projectFile, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO must not hold the start
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

// Warning tells which names of the file do not count; if empty, all do.
func (p Project) Warning() string {
	if len(p.Ignored) == 0 {
		return ""
	}
	return fmt.Sprintf("%s of this project sets what only you may set, which is ignored: %s; it may only deny and ask", p.Path, strings.Join(p.Ignored, ", "))
}
