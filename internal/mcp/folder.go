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

// start holds the folder and environment for a server's program.
type start struct {
	dir string
	own bool // the folder is the server's alone
	env []string
	end func() // run after the program exits
}

// whereToStart chooses the folder and environment of a server's program.
//
// A server without a configured folder gets an empty one of its own: python -m, npx, uvx and go run
// load code from the current folder and its parents, so they must not start in the workspace.
// Search paths never lead into the workspace.
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
		at.env = proc.OwnFolderEnv(at.env, p.opts.Dir)
	case s.Source != "": // from a project
		at.env = proc.ConsentedEnv(at.env, p.opts.Dir, s.Command...)
	default:
		at.env = proc.Isolated(at.env, p.opts.Dir, s.Command...)
	}
	at.env = s.environ(at.env)
	return at, nil
}

// ownFolder makes the folder of a server without one: below the state folder, or else a temporary
// one that is removed after the program exits.
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
	// npm looks from the current folder upward for a package.json and takes programs and settings
	// from there.
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

// packageFile stops npm's search for a package.
const packageFile = "package.json"

// dropFolder removes an unused server's folder unless it holds the server's files.
func (p *Pool) dropFolder(name string) {
	dir := filepath.Join(p.opts.State, "folders", name)
	if entries, err := os.ReadDir(dir); err == nil && len(entries) == 1 && entries[0].Name() == packageFile {
		_ = os.RemoveAll(dir)
	}
}

// InWorkspace reports whether a server's program starts in the workspace.
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
