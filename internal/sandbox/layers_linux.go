package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"adze/internal/sandbox/overlay/entry"
	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim/namespace"
)

// Commands see the user's build caches through overlays: they read the user's downloads and build
// output, and write to private folders of the workspace that no program outside reads. One process
// holds the overlays, because two overlays must not share an upper folder. A second adze in the
// workspace has none, and neither has a command whose cache writes are discarded.

// layer is one of the user's caches.
type layer struct {
	name string // the command's path, below insideCache
	path string // the user's path, without links
}

// layers holds a sandbox's overlays, made with the first command.
type layers struct {
	once   sync.Once
	list   []layer
	holder *holder
	lock   *os.File // held while the overlays are in use
}

// make makes the overlays once. If it cannot, commands get empty caches.
func (l *layers) make(p *plan, s *Sandbox) {
	l.once.Do(func() {
		if s.o.State == "" || s.noView(Namespaces) != "" {
			return
		}
		list := s.userCaches(p)
		if len(list) == 0 {
			return
		}
		lock, ok := exclusive(p.cache + ".layers.lock")
		if !ok {
			return
		}
		var views []namespace.HeldFolder
		for _, one := range list {
			upper := filepath.Join(p.cache, strings.ReplaceAll(one.name, "/", "-")+".layer")
			f := pin(one.path)
			if f.err != nil || readied(upper) != nil {
				continue
			}
			views = append(views, namespace.HeldFolder{Path: one.path, Upper: upper, Dev: f.dev, Ino: f.ino})
			l.list = append(l.list, one)
		}
		h, err := hold(views)
		if err != nil {
			l.list = nil
			_ = lock.Close()
			return
		}
		l.holder, l.lock = h, lock
	})
}

func exclusive(path string) (*os.File, bool) {
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return nil, false
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, false
	}
	return f, true
}

// readied prepares an overlay's upper folder: the kernel does not accept a work folder twice.
func readied(dir string) error {
	if err := entry.RemoveAll(filepath.Join(dir, "work")); err != nil {
		return err
	}
	for _, name := range []string{"upper", "work"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sandbox) userCaches(p *plan) (out []layer) {
	home, set := p.lookup("HOME"), goSettings(p.lookup("HOME"))
	if home == "" {
		return nil
	}
	for _, c := range cacheTable() {
		path := filepath.Join(home, c.home)
		if in, ok := strings.CutPrefix(c.home, ".cache/"); ok && filepath.IsAbs(p.lookup("XDG_CACHE_HOME")) {
			path = filepath.Join(p.lookup("XDG_CACHE_HOME"), in)
		}
		for _, value := range []string{set[c.variable], p.lookup(c.variable)} {
			if c.variable != "" && filepath.IsAbs(value) {
				path = value
			}
		}
		if download := p.goModules(set); c.name == "go-mod" && download != "" {
			path = filepath.Dir(filepath.Dir(download))
		}
		real, err := filepath.EvalSymlinks(filepath.Join(path, c.below))
		if err != nil || isWithin(p.workspace.path, real) || isWithin(real, p.workspace.path) || isWithin(s.o.State, real) || isWithin(real, s.o.State) || s.withheld(p, real) {
			continue
		}
		if info, err := os.Stat(real); err == nil && info.IsDir() && s.noView(Namespaces, real) == "" {
			out = append(out, layer{c.name, real})
		}
	}
	return out
}

// withheld reports whether a path holds secrets, or may be matched by a deny rule, even in part.
func (s *Sandbox) withheld(p *plan, path string) bool {
	if slices.ContainsFunc(slices.Concat(p.secrets, p.masked, p.hidden), func(at string) bool { return isWithin(at, path) || isWithin(path, at) }) {
		return true
	}
	return s.o.Rules != nil && slices.ContainsFunc(s.o.Rules.Denied(false), func(d Denial) bool {
		literal, _, _ := strings.Cut(filepath.Join(d.Root, d.Pattern), "*")
		literal = strings.TrimSuffix(literal, "/")
		return len(literal) > len(d.Root) && (isWithin(literal, path) || isWithin(path, literal))
	})
}

// show adds the overlays to a command in namespaces. If their process has ended, the command gets
// only the private caches.
func (l *layers) show(p *plan, s *Sandbox) {
	l.make(p, s)
	before := len(p.trees)
	for i, one := range l.list {
		tree, err := l.holder.tree(i)
		if err != nil {
			for _, f := range p.trees[before:] {
				_ = f.Close()
			}
			p.layers, p.trees = nil, p.trees[:before]
			return
		}
		p.layers = append(p.layers, namespace.Mount{Kind: namespace.Handed, Path: filepath.Join(insideCache, one.name), Source: strconv.Itoa(proc.FirstFile + len(p.trees))})
		p.trees = append(p.trees, tree)
	}
}

// close ends the overlays' process. No others are made afterwards.
func (l *layers) close() {
	l.once.Do(func() {})
	if l.holder != nil {
		l.holder.close()
		_ = l.lock.Close()
	}
}
