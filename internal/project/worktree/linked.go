package worktree

import (
	"os"
	"path/filepath"
	"strings"
)

// Linked are the tops of the linked work trees of the repository that a folder lies in, whoever
// made them. The files of both sides must say so: a folder cannot make itself one of them. It asks
// no git.
func Linked(dir string) (tops []string) {
	common := commonOf(dir)
	if common == "" {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(common, "worktrees"))
	if err != nil {
		return nil // it has none
	}
	for _, e := range entries {
		at := filepath.Join(common, "worktrees", e.Name())
		pointer, ok := small(filepath.Join(at, "gitdir"))
		if !ok || filepath.Base(pointer) != ".git" || !filepath.IsAbs(pointer) {
			continue
		}
		if to, ok := small(pointer); ok && to == "gitdir: "+at {
			tops = append(tops, filepath.Dir(pointer))
		}
	}
	return tops
}

// commonOf is the folder of the repository that a folder lies in; if empty, it lies in none.
func commonOf(dir string) string {
	for {
		at := filepath.Join(dir, ".git")
		switch info, err := os.Lstat(at); {
		case err == nil && info.IsDir():
			return at
		case err == nil:
			return linkedTo(dir)
		case dir == filepath.Dir(dir):
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

// linkedTo is the folder of the repository that names a folder as the top of a work tree and that
// the folder names; if empty, there is none.
func linkedTo(top string) string {
	at := filepath.Join(top, ".git")
	pointer, _ := small(at) // one that cannot be read points nowhere
	to, linked := strings.CutPrefix(pointer, "gitdir: ")
	if back, ok := small(filepath.Join(to, "gitdir")); !linked || !ok || back != at || filepath.Base(filepath.Dir(to)) != "worktrees" {
		return ""
	}
	return filepath.Dir(filepath.Dir(to))
}
