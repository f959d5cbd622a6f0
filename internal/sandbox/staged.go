//go:build unix

package sandbox

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/sandbox/proc"
)

// maxIndex bounds what git lists of an index, in bytes.
const maxIndex = 256 << 20

// staged is what the index of a repository holds, as git lists it: of each entry its flags, mode,
// object, stage and path.
type staged []string

// stagedIn asks git about the index of a work tree; more are variables that name another one.
func stagedIn(top string, env []string, more ...string) (staged, error) {
	return gitLists(top, append(proc.Outside(env, top), more...), maxIndex, "ls-files", "-v", "-s", "-z")
}

// stagedAt asks git about an index file of a repository.
func (v *view) stagedAt(repository, file string) (staged, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	return stagedIn(filepath.Dir(repository), v.command.Env, "GIT_DIR="+repository, "GIT_WORK_TREE="+filepath.Dir(repository), "GIT_INDEX_FILE="+file)
}

// before lists the index of the workspace's repository as it was when the command began.
func (v *view) before() (staged, error) {
	if v.index == nil {
		return nil, os.ErrNotExist
	}
	to, err := os.CreateTemp(v.Dir, "index-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(to.Name())
	defer to.Close()
	if _, err := io.Copy(to, io.NewSectionReader(v.index, 0, maxIndex)); err != nil {
		return nil, err
	}
	return v.stagedAt(filepath.Dir(v.index.Name()), to.Name())
}

// submodules are the paths of the commits of submodules.
func (s staged) submodules() (paths []string) {
	for _, entry := range s {
		if flags, path, _ := strings.Cut(entry, "\t"); slices.Contains(strings.Fields(flags), "160000") {
			paths = append(paths, path)
		}
	}
	return paths
}

// pathOf is the path of an entry.
func pathOf(entry string) string {
	_, path, _ := strings.Cut(entry, "\t")
	return path
}
