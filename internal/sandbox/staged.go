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

// maxIndex limits git's listing of an index, in bytes.
const maxIndex = 256 << 20

// staged is git's listing of an index: each entry's flags, mode, object, stage and path.
type staged []string

// stagedIn lists a work tree's index; more holds variables that name another index.
func stagedIn(top string, env []string, more ...string) (staged, error) {
	return gitLists(top, append(proc.WithoutPathsIn(env, top), more...), maxIndex, "ls-files", "-v", "-s", "-z")
}

// stagedAt lists a repository's index file.
func (v *view) stagedAt(repository, file string) (staged, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	return stagedIn(filepath.Dir(repository), v.command.Env, "GIT_DIR="+repository, "GIT_WORK_TREE="+filepath.Dir(repository), "GIT_INDEX_FILE="+file)
}

// before lists the workspace repository's index as it was before the command.
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

// submodules returns the paths of submodule entries.
func (s staged) submodules() (paths []string) {
	for _, entry := range s {
		if flags, path, _ := strings.Cut(entry, "\t"); slices.Contains(strings.Fields(flags), "160000") {
			paths = append(paths, path)
		}
	}
	return paths
}

func pathOf(entry string) string {
	_, path, _ := strings.Cut(entry, "\t")
	return path
}
