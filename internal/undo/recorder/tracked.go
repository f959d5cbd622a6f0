package recorder

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"adze/internal/files/git"
)

// indexes remembers what the index of each work tree lists, until the index changes. It is safe for
// concurrent use.
type indexes struct {
	mu   sync.Mutex
	seen map[string]listedIndex
}

type listedIndex struct {
	info  fs.FileInfo
	paths []string
}

// tracked lists what git tracks in the work tree at a folder, sorted. An index that cannot be read
// lists nothing.
func (x *indexes) tracked(top string) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	dir := gitDir(top)
	path := filepath.Join(dir, "index")
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	if was, ok := x.seen[path]; ok && os.SameFile(was.info, info) && was.info.ModTime().Equal(info.ModTime()) && was.info.Size() == info.Size() {
		return was.paths
	}
	paths := listIndex(dir, path)
	if x.seen == nil {
		x.seen = map[string]listedIndex{}
	}
	x.seen[path] = listedIndex{info, paths}
	return paths
}

func listIndex(dir, path string) []string {
	config, _ := os.ReadFile(filepath.Join(dir, "config")) // none: as git does it by itself
	sha256 := namesBySHA256(config)
	content, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	paths, shared, err := git.IndexPaths(content, sha256)
	if err == nil && shared != "" {
		if content, err = os.ReadFile(filepath.Join(dir, "sharedindex."+shared)); err == nil {
			base, _, _ := git.IndexPaths(content, sha256)
			paths = append(paths, base...)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// gitDir is where git keeps the state of a work tree.
func gitDir(top string) string {
	dir := filepath.Join(top, ".git")
	content, err := os.ReadFile(dir)
	target, ok := strings.CutPrefix(strings.TrimSpace(string(content)), "gitdir: ")
	if err != nil || !ok {
		return dir
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(top, target)
	}
	return target
}

func namesBySHA256(config []byte) bool {
	return strings.Contains(strings.ToLower(strings.ReplaceAll(string(config), " ", "")), "objectformat=sha256")
}
