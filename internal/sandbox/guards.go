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
	list []guard
	err  error
}

// guarded reports whether a place has a guard at least as strong as kind.
func (g *guards) guarded(path string, kind namespace.Kind) bool {
	return slices.ContainsFunc(g.list, func(have guard) bool {
		return have.path == path && (kind == namespace.Same || have.kind == kind || have.kind == namespace.Locked)
	})
}

// lock makes a place read only, and makes every folder between it and its writable root a mount
// point. A missing place stays unlocked: planted reports the files that a command makes there.
func (g *guards) lock(root, path string) {
	const kind = namespace.Locked
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
			return
		case err != nil:
			g.err = fmt.Errorf("%w: %s: %w", ErrUnsuitable, at, err)
			return
		case isLink(at):
			g.err = fmt.Errorf("%w: %s is a link, which a command could turn elsewhere; replace it by what it leads to", ErrUnsuitable, at)
			return
		case !last && !info.IsDir():
			return
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
