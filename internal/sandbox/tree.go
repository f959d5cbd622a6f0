//go:build unix

package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"adze/internal/osfile/delicate"
	"adze/internal/sandbox/proc/shim/seccomptrace"
	"adze/internal/sandbox/visibility"
)

// tree finds the repositories in a workspace, again and again: a folder that has not changed since
// it was read is not read anew. It goes by the time of change that the kernel alone sets; one that
// is too near to the reading counts for nothing, because clocks of file systems have steps.
type tree struct {
	root    string
	force   bool // folders are read whose owner took the right to that away
	folders map[string]*read
	foreign bool // a folder was seen that belongs to another user or group
}

// read is what was in a folder.
type read struct {
	changed syscall.Timespec
	at      time.Time // of the reading
	below   []string  // names of folders
	links   []string  // names of those
	acted   []string  // names of what other programs act on
	empty   bool
	closed  bool // it cannot be looked into
	git     bool // something is called .git
	bare    bool // it looks like a repository without a work tree
	seen    bool // in this walk
}

// someFolders bounds a walk that need not be whole.
const someFolders = 200_000

// folders is what a walk found.
type folders struct {
	repositories []string // paths that end in .git, and folders that are bare ones; the workspace's own is not among them
	closed       []string // folders that cannot be looked into
}

// find lists the repositories. With most, which is not 0, it looks into no more folders than that.
func (t *tree) find(most int) (out folders) {
	if t.folders == nil {
		t.folders = map[string]*read{}
	}
	for _, r := range t.folders {
		r.seen = false
	}
	queue := []string{t.root}
	for n := 0; len(queue) > 0 && (most == 0 || n < most); n++ {
		dir := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		r := t.look(dir)
		if r == nil {
			continue
		}
		r.seen = true
		switch {
		case r.closed:
			out.closed = append(out.closed, dir)
		case r.git && dir != t.root:
			out.repositories = append(out.repositories, filepath.Join(dir, ".git"))
		case r.bare && dir != t.root:
			out.repositories = append(out.repositories, dir)
			continue
		}
		for _, name := range r.below {
			queue = append(queue, filepath.Join(dir, name))
		}
	}
	for dir, r := range t.folders {
		if !r.seen {
			delete(t.folders, dir)
		}
	}
	slices.Sort(out.repositories)
	return out
}

// look reads a folder, or remembers it.
func (t *tree) look(dir string) *read {
	var st syscall.Stat_t
	if syscall.Lstat(dir, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return nil
	}
	t.foreign = t.foreign || strange(st.Uid, st.Gid)
	old, changed := t.folders[dir], visibility.ChangeTime(&st)
	if old != nil && old.changed == changed && old.at.Sub(time.Unix(changed.Unix())) > visibility.ClockStep {
		return old
	}
	r := &read{changed: changed, at: time.Now()}
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) && t.force && int(st.Uid) == os.Geteuid() {
		f, err = forceOpen(dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var entries []fs.DirEntry
	if err == nil {
		entries, err = f.ReadDir(-1)
		_ = f.Close()
	}
	r.closed, r.empty = err != nil, err == nil && len(entries) == 0
	has := map[string]bool{}
	for _, e := range entries {
		name := e.Name()
		switch name {
		case ".git":
			r.git = true
			continue
		case "HEAD", "commondir", "objects", "refs":
			has[name] = true
		}
		if e.Type() == fs.ModeDir {
			r.below = append(r.below, name)
		}
		if e.Type() == fs.ModeSymlink {
			r.links = append(r.links, name)
		}
		if t.actsOn(filepath.Join(dir, name), e) {
			r.acted = append(r.acted, name)
		}
	}
	r.bare = seccomptrace.LooksLikeRepository(func(name string) bool { return has[name] })
	t.folders[dir] = r
	return r
}

// actsOn reports an entry by which other programs run something.
func (t *tree) actsOn(path string, e fs.DirEntry) bool {
	kind := delicate.File
	switch e.Type() {
	case fs.ModeDir:
		kind = delicate.Folder
	case fs.ModeSymlink:
		kind = delicate.Moved
	}
	if kind != delicate.Moved && !delicate.Ends(e.Name()) {
		return false
	}
	rel, err := filepath.Rel(t.root, path)
	_, found := delicate.In(rel, kind)
	return err == nil && found
}

// acted are the paths by which other programs run something, but for empty folders.
func (t *tree) acted() (out []string) {
	for dir, r := range t.folders {
		for _, name := range r.acted {
			at := filepath.Join(dir, name)
			if in := t.folders[at]; in == nil || !in.empty {
				out = append(out, at)
			}
		}
	}
	slices.Sort(out)
	return out
}
