package worktree

import (
	"os"
	"path/filepath"
	"strings"
)

// Linked returns the top folders of the work trees linked to dir's repository, whoever made them.
// The files on both sides must agree: a folder cannot declare itself one. It does not run git.
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

// commonOf returns the git folder of dir's repository, or "".
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

// linkedTo returns the git folder that top names and that names top as a work tree, or "".
func linkedTo(top string) string {
	at := filepath.Join(top, ".git")
	pointer, _ := small(at) // an unreadable one counts as empty
	to, linked := strings.CutPrefix(pointer, "gitdir: ")
	if back, ok := small(filepath.Join(to, "gitdir")); !linked || !ok || back != at || filepath.Base(filepath.Dir(to)) != "worktrees" {
		return ""
	}
	return filepath.Dir(filepath.Dir(to))
}
