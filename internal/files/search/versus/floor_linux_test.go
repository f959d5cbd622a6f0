//go:build amd64 || arm64

package versus

import (
	"context"
	"path"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"adze/internal/files/search"
)

// known is a folder with the names in it, each with a NUL behind it for the system.
type known struct {
	path  string
	names [][]byte
}

// knownFolders are those of a tree, as if remembered from an earlier search.
func knownFolders(t *testing.T, root string) (all []*known) {
	t.Helper()
	r, err := search.Tree{Root: root}.Glob(context.Background(), search.GlobQuery{Pattern: "**", Limit: 1 << 30})
	must(t, err)
	at := map[string]*known{}
	for _, f := range r.Files {
		folder, name := path.Split(root + "/" + f.Path)
		k := at[folder]
		if k == nil {
			k = &known{path: folder}
			at[folder], all = k, append(all, k)
		}
		k.names = append(k.names, append([]byte(name), 0))
	}
	return all
}

// states asks for the state of each folder and of each file in it, with as few calls as there can
// be, and does nothing with the answers.
func states(folders []*known) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			var st unix.Stat_t
			for i := next.Add(1) - 1; i < int64(len(folders)); i = next.Add(1) - 1 {
				fd, err := unix.Open(folders[i].path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
				if err != nil {
					continue
				}
				_ = unix.Fstat(fd, &st)
				for _, name := range folders[i].names {
					unix.Syscall6(statCall, uintptr(fd), uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&st)), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
				}
				_ = unix.Close(fd)
			}
		})
	}
	workers.Wait()
}

// TestSpeedOfTheLeast times what a list by age and a search that finds nothing cannot do without,
// however much they remember: a question about each folder and each file. What it takes of
// ripgrep's time is the floor of both.
func TestSpeedOfTheLeast(t *testing.T) {
	pairs, rg := pairsWanted(t), ripgrep(t)
	for _, kind := range kinds() {
		root := treeOf(t, kind)
		r, folders := race{t: t, rg: rg, tree: search.Tree{Root: root}, pairs: pairs}, knownFolders(t, root)
		ask := func() { states(folders) }
		list, none := &row{name: "against rg --files"}, &row{name: "against rg of what is nowhere"}
		for range pairs {
			list.pair(own(ask), r.program(rg, "--no-config", "--no-require-git", "--files"))
			none.pair(own(ask), r.program(rg, "--no-config", "--no-require-git", "qqxqqxqq", "./"))
		}
		table(t, kind+", the least", []*row{list, none})
	}
}
