package undo

import (
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// A folder of things that programs make is left out when git ignores it. What git tracks in it all
// the same is covered: it is the user's, and nothing makes it again.

// around is the work tree that the folder stands in, when it is not one itself.
func (w *Workspace) around() string {
	if w.opts.Tracked == nil {
		return ""
	}
	for dir := w.opts.Root; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, gitName)); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// workTree is the folder of a path, at which a work tree begins.
func (w *Workspace) workTree(path string) string {
	if w.opts.Tracked == nil {
		return ""
	}
	return filepath.Join(w.opts.Root, path)
}

// tracked reports whether git tracks a file of a folder, or with a slash behind the name, something
// in it.
func (k *walker) tracked(s scope, name string) bool {
	top := s.top
	if top == "" {
		top = k.around()
	}
	if top == "" {
		return false
	}
	k.mu.Lock()
	all, known := k.lists[top]
	if !known {
		all = k.opts.Tracked(top)
		k.lists[top] = all
	}
	k.mu.Unlock()
	rel, inside := strings.CutPrefix(filepath.ToSlash(k.opts.Root)+"/"+s.path+name, strings.TrimSuffix(filepath.ToSlash(top), "/")+"/")
	if !inside {
		return false
	}
	i := sort.SearchStrings(all, rel)
	return i < len(all) && (all[i] == rel || strings.HasSuffix(rel, "/") && strings.HasPrefix(all[i], rel))
}
