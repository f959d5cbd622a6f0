//go:build unix

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/osfile/delicate"
	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim/namespace"
)

// plan lists the paths within one command's reach, for all means.
type plan struct {
	command   proc.Command
	workspace folder
	cache     string   // the host's folder of private caches
	private   []string // empty folders for this command alone
	kept      []string // the host's, below private ones
	grants    []string // writable besides the workspace: a repository's folder elsewhere
	elsewhere string   // that folder, writable or not; "" if there is none
	guards    []guard  // in writable places, parents first
	nested    []string // repositories in the workspace
	home      home
	secrets   []string // empty for the command
	hidden    []string // in the workspace, by rules; missing for the command
	masked    []string // outside the workspace, by rules; empty for the command
	still     []string // read only by rules; in a view, judged after the command
	missing   []string // guards' folders that exist until the command ends
	host      host
	memory    uint64
	processes uint64
	servers   *servers
	view      *view             // nil if the command changes the workspace itself
	staged    *Stage            // used in place of a view, or nil
	trees     []*os.File        // mounts of the stage and the layers
	layers    []namespace.Mount // cache overlays
	walled    bool              // Landlock only: the workspace is read only
	real      []string          // folders of open databases, changed directly
	apart     []string          // folders changed in the view
	live      string            // why the command changes the workspace itself; "" in a view
}

// guard is a place in a writable folder: read only (namespace.Locked), or a mount point
// (namespace.Same), because a renamed parent would allow a new, unguarded place.
type guard struct {
	path string
	kind namespace.Kind
}

func (s *Sandbox) plan(c proc.Command, means Technique) (plan, error) {
	w := s.workspace
	if w.err != nil {
		return plan{}, fmt.Errorf("%w: %w", ErrUnsuitable, w.err)
	}
	s.machine.Do(func() { s.host.memory = machineMemory() })
	s.useCaches()
	h := s.host.of()
	p := plan{servers: &s.servers, command: c, workspace: w, host: h, cache: cacheDir(s.o.State, w.path), walled: means == Landlock, private: h.private, kept: h.kept}
	p.secrets = h.hidden(s.o)
	if why := s.unsuitable(); why != "" {
		return plan{}, fmt.Errorf("%w: %s", ErrUnsuitable, why)
	}
	for _, secret := range p.secrets {
		if isWithin(w.path, secret) {
			return plan{}, fmt.Errorf("%w: %s is the workspace, and no command may reach %s", ErrUnsuitable, w.path, secret)
		}
	}
	if err := p.protect(s, means); err != nil {
		return plan{}, err
	}
	p.home = p.look(s)
	p.deny(s)
	p.memory, p.processes = h.bounds(s.o)
	return p, nil
}

const maxNested = 32

func (p *plan) protect(s *Sandbox, means Technique) error {
	repository, err := findRepository(p.workspace.path)
	if err != nil {
		return err
	}
	p.elsewhere = repository.grant
	for _, secret := range p.secrets {
		if p.elsewhere != "" && (isWithin(p.elsewhere, secret) || isWithin(secret, p.elsewhere)) {
			return fmt.Errorf("%w: its repository %s lies with secrets", ErrUnsuitable, p.elsewhere)
		}
	}
	if p.elsewhere != "" {
		p.grants = []string{p.elsewhere}
	}
	if p.live = s.live(p, means); p.live == "" { // a view is judged after the command
		p.nested = s.first().repositories
		p.apart = append([]string{p.workspace.path}, p.grants...)
		p.keepDatabases()
		return nil
	}
	p.grants = nil
	if means == Landlock { // the workspace is read only
		return nil
	}
	found := lookThrough(p.workspace.path, 0)
	p.nested = found.repositories
	g := guards{}
	p.keepGit(&g)
	for _, dir := range found.closed { // a repository may be in it
		g.lockIfThere(p.workspace.path, dir)
	}
	p.keepNames(&g, found.executedPaths)
	p.guards, p.missing = g.list, g.missing
	return g.err
}

const maxNames = 512

// keepNames protects existing files that other programs or git's settings run. Of the missing ones,
// only a few names get an empty folder as a placeholder. The others are searched for after the
// command.
func (p *plan) keepNames(g *guards, acted []string) {
	top := p.workspace.path
	for _, name := range delicate.PlaceholderNames() {
		g.lock(top, filepath.Join(top, name))
	}
	places := gitRuns(top, p.elsewhere, p.nested, p.command.Env)
	for _, dir := range places.hooks {
		if rel, err := filepath.Rel(top, dir); err == nil && slices.Contains(places.runs, dir) && !throughLink(top, filepath.Dir(rel)) {
			g.lock(top, dir)
		}
	}
	for _, at := range append(places.runs, acted[:min(len(acted), maxNames)]...) {
		if rel, err := filepath.Rel(top, at); err == nil && !throughLink(top, filepath.Dir(rel)) && (!isFolderAt(at) || slices.Contains(acted, at)) {
			g.lockIfThere(top, at)
		}
	}
}

// holds reports whether the command cannot change a path.
func (p *plan) holds(path string) bool {
	return slices.Contains(p.missing, path) ||
		slices.ContainsFunc(p.guards, func(g guard) bool { return g.kind == namespace.Locked && isWithin(path, g.path) })
}

func (p *plan) root(path string) string {
	for _, grant := range p.grants {
		if isWithin(path, grant) {
			return grant
		}
	}
	return p.workspace.path
}

func (p *plan) mounts() []namespace.Mount {
	out := []namespace.Mount{{Kind: namespace.Proc, Path: "/proc"}}
	if p.host.steers {
		out = append(out, namespace.Mount{Kind: namespace.Locked, Path: "/proc"})
	}
	out = append(out, namespace.Mount{Kind: namespace.Devices, Path: "/dev"}, namespace.Mount{Kind: namespace.Private, Path: "/dev/shm", Size: p.host.scratch})
	for _, path := range p.private {
		out = append(out, namespace.Mount{Kind: namespace.Private, Path: path, Size: p.host.scratch})
	}
	for _, path := range p.kept {
		out = append(out, namespace.Mount{Kind: namespace.ReadOnly, Path: path, Source: path})
	}
	out = append(out, p.home.mounts()...)
	w := p.workspace
	out = append(out, namespace.Mount{Kind: namespace.Writable, Path: w.path, Source: w.path, Dev: w.dev, Ino: w.ino},
		namespace.Mount{Kind: namespace.Writable, Path: insideCache, Source: p.cache})
	out = append(out, p.layers...)
	if p.command.OwnDir {
		out = append(out, namespace.Mount{Kind: namespace.Writable, Path: insideOwn, Source: p.command.Dir})
	}
	for _, path := range p.grants {
		out = append(out, namespace.Mount{Kind: namespace.Writable, Path: path, Source: path})
	}
	for _, path := range p.real {
		out = append(out, namespace.Mount{Kind: namespace.Writable, Path: path, Source: path})
	}
	for _, g := range p.guards {
		out = append(out, namespace.Mount{Kind: g.kind, Path: g.path})
	}
	empty := slices.Concat(p.secrets, p.masked)
	if p.live != "" {
		empty = append(empty, p.hidden...)
		for _, path := range p.still {
			if !matchesAny(empty, path, false) && !isLink(path) {
				out = append(out, p.locked(path)...)
			}
		}
	}
	for _, path := range empty {
		if isLink(path) || p.hollow(path) {
			continue // a link's target has a name of its own
		}
		out = append(out, namespace.Mount{Kind: namespace.Empty, Path: path})
	}
	for i := range out {
		out[i] = p.shown(out[i])
	}
	return out
}

// hollow reports whether a path lies in an empty folder and shows only paths in it, such as the
// outputs of a session in adze's own folder. A mount on it would hide those.
func (p *plan) hollow(path string) bool {
	inside := func(dir string) bool { return isWithin(path, dir) }
	return (slices.ContainsFunc(p.home.hidden, inside) || slices.ContainsFunc(p.private, inside)) && !p.home.visible(path) &&
		slices.ContainsFunc(p.home.visiblePaths, func(s visiblePath) bool { return isWithin(s.path, path) })
}

// locked returns mounts that make a path read only and keep its parents from being renamed, if
// those are writable.
func (p *plan) locked(path string) (out []namespace.Mount) {
	root := p.root(path)
	if isWithin(path, root) {
		for _, dir := range slices.Backward(between(root, path)) {
			out = append(out, namespace.Mount{Kind: namespace.Same, Path: dir})
		}
	} else if !p.home.opened(path) {
		return nil
	}
	return append(out, namespace.Mount{Kind: namespace.Locked, Path: path})
}

// isWithin reports whether path is dir or below it; both are clean and absolute.
func isWithin(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}
