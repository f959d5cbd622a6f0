//go:build unix

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

type repository struct {
	grant string // its folder elsewhere, if it belongs to the workspace
}

// findRepository finds the workspace's repository: a folder, or a file that names one (linked work
// trees, submodules).
func findRepository(workspace string) (repository, error) {
	at := filepath.Join(workspace, ".git")
	info, err := os.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.IsDir():
		return repository{}, nil
	case err != nil:
		return repository{}, fmt.Errorf("%w: %s: %w", ErrUnsuitable, at, err)
	case info.Mode().IsRegular():
		return repository{linked(workspace, at)}, nil
	}
	return repository{}, fmt.Errorf("%w: %s is a link, which a command could turn elsewhere; replace it by what it leads to", ErrUnsuitable, at)
}

// linked returns the folder of a work tree's repository elsewhere. The .git file is part of the
// project and could name any folder, so that folder must name the work tree in turn. Otherwise the
// repository stays read only.
func linked(workspace, at string) (grant string) {
	dir, ok := pointer(at, "gitdir: ", workspace)
	if !ok {
		return ""
	}
	if back, ok := pointer(filepath.Join(dir, "gitdir"), "", dir); ok && back == at {
		common, ok := pointer(filepath.Join(dir, "commondir"), "", dir)
		if !ok || !sameOwner(workspace, common) || !isWithin(dir, filepath.Join(common, "worktrees")) {
			return ""
		}
		return common
	}
	if top, ok := worktreeOf(dir); ok && top == workspace && sameOwner(workspace, dir) {
		return dir
	}
	return ""
}

// in bytes
const maxPointer = 8 << 10

// pointer reads a path from a small file and resolves links; a relative path counts from dir.
func pointer(file, prefix, dir string) (string, bool) {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPointer {
		return "", false
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", false
	}
	path, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), prefix)
	if !ok || path == "" || strings.ContainsAny(path, "\x00\n") {
		return "", false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	// The last element may be the work tree's own .git file, which must not be followed.
	parent, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", false
	}
	path = filepath.Join(parent, filepath.Base(path))
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return "", false
	}
	return path, true
}

func worktreeOf(dir string) (string, bool) {
	data, err := os.ReadFile(filepath.Join(dir, "config"))
	if err != nil || len(data) > 1<<20 {
		return "", false
	}
	core := false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			core = strings.EqualFold(line, "[core]")
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !core || !ok || !strings.EqualFold(strings.TrimSpace(key), "worktree") {
			continue
		}
		path := strings.Trim(strings.TrimSpace(value), `"`)
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		real, err := filepath.EvalSymlinks(path)
		return real, err == nil
	}
	return "", false
}
