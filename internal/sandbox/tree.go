package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"adze/internal/sandbox/sight"
)

// tree finds the repositories in a workspace, again and again: a folder that has not changed since it was read is not
// read anew. It goes by the time of change that the kernel alone sets; one that is too near to the reading counts for
// nothing, because clocks of file systems have steps.
type tree struct {
	root    string
	folders map[string]*read
}

// read is what was in a folder.
type read struct {
	changed syscall.Timespec
	at      time.Time // of the reading
	below   []string  // names of folders
	git     bool      // something is called .git
	bare    bool      // it looks like a repository without a work tree
	seen    bool      // in this walk
}

// maxFolders bounds a walk; a workspace with more is not looked through to its end.
const maxFolders = 200_000

// repositories lists the places of repositories: paths that end in .git, and folders that are bare ones. The
// workspace's own is not among them.
func (t *tree) repositories() (out []string) {
	if t.folders == nil {
		t.folders = map[string]*read{}
	}
	for _, r := range t.folders {
		r.seen = false
	}
	queue := []string{t.root}
	for n := 0; len(queue) > 0 && n < maxFolders; n++ {
		dir := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		r := t.look(dir)
		if r == nil {
			continue
		}
		r.seen = true
		switch {
		case r.git && dir != t.root:
			out = append(out, filepath.Join(dir, ".git"))
		case r.bare && dir != t.root:
			out = append(out, dir)
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
	slices.Sort(out)
	return out
}

// look reads a folder, or remembers it.
func (t *tree) look(dir string) *read {
	var st syscall.Stat_t
	if syscall.Lstat(dir, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return nil
	}
	old, changed := t.folders[dir], sight.ChangeTime(&st)
	if old != nil && old.changed == changed && old.at.Sub(time.Unix(changed.Unix())) > sight.ClockStep {
		return old
	}
	r := &read{changed: changed, at: time.Now()}
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(-1)
	var head, objects, refs bool
	for _, e := range entries {
		switch name := e.Name(); {
		case name == ".git":
			r.git = true
		case e.Type() == fs.ModeDir:
			r.below = append(r.below, name)
			objects, refs = objects || name == "objects", refs || name == "refs"
		default:
			head = head || name == "HEAD"
		}
	}
	r.bare = head && objects && refs
	t.folders[dir] = r
	return r
}
