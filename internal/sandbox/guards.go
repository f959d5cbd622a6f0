//go:build unix

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/sandbox/proc/shim/namespace"
)

// guards collects the places protected from a command, parents before children.
type guards struct {
	list    []guard
	missing []string
	err     error
}

// lock makes a place read only, and makes every folder between it and its writable root a mount
// point. A missing place gets an empty folder until the command ends, even if a file is expected:
// programs would read an empty file as a valid one.
func (g *guards) lock(root, path string) {
	g.add(root, path, namespace.Locked, true)
}

// lockIfThere is like lock but leaves missing places alone, for programs that fail on an empty
// folder.
func (g *guards) lockIfThere(root, path string) {
	if exists(path) && !isLink(path) {
		g.add(root, path, namespace.Locked, false)
	}
}

// guarded reports whether a place has a guard at least as strong as kind.
func (g *guards) guarded(path string, kind namespace.Kind) bool {
	return slices.ContainsFunc(g.list, func(have guard) bool {
		return have.path == path && (kind == namespace.Same || have.kind == kind || have.kind == namespace.Locked)
	})
}

func (g *guards) add(root, path string, kind namespace.Kind, create bool) {
	if g.err != nil || path == root || g.guarded(path, kind) || slices.ContainsFunc(g.list, func(have guard) bool { return have.kind == namespace.Locked && isWithin(path, have.path) }) {
		return
	}
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		g.err = fmt.Errorf("%w: %s is not in %s", ErrUnsuitable, path, root)
		return
	}
	steps := strings.Split(rel, string(filepath.Separator))
	at := root
	for i, name := range steps {
		at = filepath.Join(at, name)
		last := i == len(steps)-1
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			// The topmost missing folder is locked as a whole.
			if !create || slices.Contains(g.missing, at) {
				return
			}
			g.missing = append(g.missing, at)
			last = true
		case err != nil:
			g.err = fmt.Errorf("%w: %s: %w", ErrUnsuitable, at, err)
			return
		case isLink(at):
			g.err = fmt.Errorf("%w: %s is a link, which a command could turn elsewhere; replace it by what it leads to", ErrUnsuitable, at)
			return
		case !last && !info.IsDir():
			return
		case create && isPlaceholder(at):
			g.missing = append(g.missing, at) // another command's placeholder, which may end before this one
			last = true
		}
		step := guard{at, namespace.Same}
		if last {
			step.kind = kind
		}
		if !g.guarded(at, step.kind) {
			g.list = append(g.list, step)
		}
		if last {
			return
		}
	}
}

// isPlaceholder reports whether path is an empty folder without write permission.
func isPlaceholder(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != fs.ModeDir|0o555 {
		return false
	}
	names, err := os.ReadDir(path)
	return err == nil && len(names) == 0
}
