package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"adze/internal/proc"
	"adze/internal/proc/shim/box"
	"adze/internal/sandbox/sight"
)

// plan is what one command may reach, whatever the means.
type plan struct {
	command   proc.Command
	workspace folder
	cache     string   // the host's folder of private caches
	private   []string // folders that are empty and the command's own
	kept      []string // of the host's, below private ones
	grants    []string // writable beside the workspace: a repository's folder elsewhere
	guards    []guard  // within what is writable, parents first
	nested    []string // repositories in the workspace
	secrets   []string // nothing is there
	missing   []string // of the guards: folders to be made until the command has ended
	host      host
	rules     *ruleset
	memory    uint64
	processes uint64
	blind     bool // see Options
	glance    *sight.Glance
	tmp       *tmpFolders
}

// guard is a place in a writable folder. A locked one is read only; the others are only kept where they are: a folder
// could be renamed, and what is locked below it be made anew.
type guard struct {
	path   string
	locked bool
}

func (s *Sandbox) plan(c proc.Command) (plan, error) {
	w := s.workspace
	if w.err != nil {
		return plan{}, fmt.Errorf("%w: %w", ErrUnsuitable, w.err)
	}
	s.machine.Do(func() { s.host.memory = machineMemory() })
	g := s.sight.Glance()
	h := s.host.of(g)
	p := plan{glance: g, tmp: &s.tmp, blind: s.o.Blind, command: c, workspace: w, host: h, rules: &s.rules, cache: cacheDir(s.o.State, w.path), private: h.private, kept: h.kept}
	p.secrets = append(h.hidden(g, s.o), strangeSockets(g, h.private, w.path)...)
	for _, secret := range append([]string{"/"}, p.secrets...) {
		if within(w.path, secret) && (secret != "/" || w.path == "/") {
			return plan{}, fmt.Errorf("%w: %s is the workspace, and no command may reach %s", ErrUnsuitable, w.path, secret)
		}
	}
	p.nested = s.lookout.begin(w.path)
	if err := p.protect(h, s.o); err != nil {
		return plan{}, err
	}
	p.memory, p.processes = h.bounds(s.o)
	return p, nil
}

// maxNested bounds the repositories in a workspace that mounts protect: each takes three. Of the others what a command did is
// found when it has ended.
const maxNested = 32

// protect adds the places of the workspace that no command may change.
func (p *plan) protect(h host, o Options) error {
	repository, err := findRepository(p.glance, p.workspace.path)
	if err != nil {
		return err
	}
	for _, secret := range p.secrets {
		if repository.grant != "" && (within(repository.grant, secret) || within(secret, repository.grant)) {
			return fmt.Errorf("%w: its repository %s lies with secrets", ErrUnsuitable, repository.grant)
		}
	}
	if repository.grant != "" {
		p.grants = append(p.grants, repository.grant)
	}
	names := append([]string{}, projectNames()...)
	if within(o.Home, p.workspace.path) {
		rel, _ := filepath.Rel(p.workspace.path, o.Home)
		for _, name := range startNames() {
			names = append(names, filepath.Join(rel, name))
		}
	}
	g := guards{glance: p.glance}
	for _, nested := range p.nested[:min(len(p.nested), maxNested)] {
		if base := filepath.Dir(nested); filepath.Base(nested) == ".git" {
			g.lockIfThere(base, filepath.Join(nested, "hooks"))
			g.lockIfThere(base, filepath.Join(nested, "config"))
		} else {
			g.lockIfThere(nested, filepath.Join(nested, "hooks"))
			g.lockIfThere(nested, filepath.Join(nested, "config"))
		}
	}
	for _, at := range repository.locked {
		g.lock(p.root(at), at)
	}
	for _, at := range repository.optional {
		g.lockIfThere(p.root(at), at)
	}
	for _, name := range names {
		g.lock(p.workspace.path, filepath.Join(p.workspace.path, name))
	}
	if g.err != nil {
		return g.err
	}
	p.guards, p.missing = g.list, g.missing
	return nil
}

// stands reports that one of the folders that were missing was there already when the plan was made.
func (p *plan) stands(path string) bool { return isPlaceholder(p.glance, path) }

// root is the writable folder that a path lies in.
func (p *plan) root(path string) string {
	for _, grant := range p.grants {
		if within(path, grant) {
			return grant
		}
	}
	return p.workspace.path
}

// mounts is the plan for means that mount.
func (p *plan) mounts() []box.Mount {
	out := []box.Mount{{Kind: box.Proc, Path: "/proc"}}
	if p.host.steers {
		out = append(out, box.Mount{Kind: box.Locked, Path: "/proc"})
	}
	out = append(out, box.Mount{Kind: box.Devices, Path: "/dev"}, box.Mount{Kind: box.Private, Path: "/dev/shm", Size: p.host.scratch})
	for _, path := range p.private {
		out = append(out, box.Mount{Kind: box.Private, Path: path, Size: p.host.scratch})
	}
	for _, path := range p.kept {
		out = append(out, box.Mount{Kind: box.Kept, Path: path, From: path})
	}
	w := p.workspace
	out = append(out, box.Mount{Kind: box.Writable, Path: w.path, From: w.path, Dev: w.dev, Ino: w.ino},
		box.Mount{Kind: box.Writable, Path: insideCache, From: p.cache})
	for _, path := range p.grants {
		out = append(out, box.Mount{Kind: box.Writable, Path: path, From: path})
	}
	for _, g := range p.guards {
		kind := box.Same
		if g.locked {
			kind = box.Locked
		}
		out = append(out, box.Mount{Kind: kind, Path: g.path})
	}
	for _, path := range p.secrets {
		out = append(out, box.Mount{Kind: box.Empty, Path: path})
	}
	return out
}

// within reports whether path is dir or below it; both are clean and absolute.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// codes keeps the system call filters of a run, which are put together once.
type codes struct {
	mu   sync.Mutex
	made map[filtered]box.Code
}

// filtered is what a filter depends on.
type filtered struct {
	filter box.Filter
	blind  bool
}

func (c *codes) of(b box.Box) box.Code {
	c.mu.Lock()
	defer c.mu.Unlock()
	what := filtered{b.Filter, b.Blind}
	code, ok := c.made[what]
	if !ok {
		if c.made == nil {
			c.made = map[filtered]box.Code{}
		}
		code = b.Compiled()
		c.made[what] = code
	}
	return code
}

// ruleset keeps the rules of Landlock from one command to the next: to name hundreds of files to the kernel takes longer than
// all else that this means does. They are made anew when anything changed that they were made of: what is hidden or writable,
// or one of the folders that were read, by the time of change that the kernel sets.
type ruleset struct {
	mu      sync.Mutex
	file    *os.File // the rules; nil: there are none yet
	hidden  []string
	write   []string
	objects []sight.Mark // of what is writable
	folders sight.Marks  // that were read
	made    time.Time
}

// close lets go of the rules.
func (r *ruleset) close() {
	if r.file != nil {
		_ = r.file.Close()
		r.file = nil
	}
}
