package mcp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/sandbox/proc"
)

// start is the folder and the environment in which a server's program starts.
type start struct {
	dir string
	own bool // the folder is the server's alone
	env []string
	end func() // after the program has ended
}

// whereToStart chooses the folder and the environment of a server's program.
//
// A server that names no folder gets one of its own. There it meets no file of the workspace:
// python -m, npx, uvx and go run take code from the folder that they start in, and from those above
// it. Search paths lead into the workspace neither here nor there.
func (p *Pool) whereToStart(s Server) (at start, err error) {
	at = start{dir: s.Dir, end: func() {}, env: p.environ()}
	if s.Dir == "" {
		if program := s.Command[0]; strings.Contains(program, "/") && !filepath.IsAbs(program) {
			return at, &startError{fmt.Errorf("it starts in a folder of its own, where there is no %s; name its program by its whole path, or with ${workspaceFolder}", Line(program, 100))}
		}
		if at, err = p.ownFolder(s.Name); err != nil {
			return at, &startError{fmt.Errorf("its own folder cannot be made: %w", err)}
		}
		at.env, at.own = p.environ(), true
	}
	switch {
	case !s.InWorkspace(p.opts.Dir):
		at.env = proc.Elsewhere(at.env, p.opts.Dir)
	case s.From != "": // a project's
		at.env = proc.Consented(at.env, p.opts.Dir, s.Command...)
	default:
		at.env = proc.Isolated(at.env, p.opts.Dir, s.Command...)
	}
	at.env = s.environ(at.env)
	return at, nil
}

// ownFolder makes the folder of a server that has none. It is kept below the state; without that it
// goes when the program has ended.
func (p *Pool) ownFolder(name string) (at start, err error) {
	at = start{dir: filepath.Join(p.opts.State, "folders", name), end: func() {}}
	if p.opts.State == "" {
		if at.dir, err = os.MkdirTemp("", "adze-mcp-"); err != nil {
			return at, err
		}
		at.end = func() { _ = os.RemoveAll(at.dir) }
	} else if err := os.MkdirAll(at.dir, 0o700); err != nil {
		return at, err
	}
	if at.dir, err = filepath.EvalSymlinks(at.dir); err != nil {
		return at, err
	}
	// npm goes up from where it starts to the first folder with a package, and takes programs and
	// settings from there.
	f, err := os.OpenFile(filepath.Join(at.dir, packageFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return at, nil
	}
	if err != nil {
		return at, err
	}
	_, err = f.WriteString("{\"private\": true}\n")
	return at, errors.Join(err, f.Close())
}

// packageFile ends npm's way up.
const packageFile = "package.json"

// dropFolder removes the folder of a server that is no longer used, unless the server keeps
// something there.
func (p *Pool) dropFolder(name string) {
	dir := filepath.Join(p.opts.State, "folders", name)
	if entries, err := os.ReadDir(dir); err == nil && len(entries) == 1 && entries[0].Name() == packageFile {
		_ = os.RemoveAll(dir)
	}
}

// InWorkspace reports a server whose program starts in the workspace.
func (s Server) InWorkspace(workspace string) bool {
	if s.Dir == "" {
		return false
	}
	dir := s.Dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	rel, err := filepath.Rel(workspace, dir)
	return err == nil && filepath.IsLocal(rel)
}
