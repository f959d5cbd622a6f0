package git

import (
	"os"
	"path/filepath"
	"strings"
)

// Head returns the current branch in the repository that contains dir, the first digits of the
// commit and "detached", "branch unknown" if references are elsewhere, or "" without a repository.
// It reads one or two small files and runs nothing, so frequent calls are cheap.
func Head(dir string) string {
	folder := gitFolder(dir)
	if folder == "" {
		return ""
	}
	raw, err := smallFile(filepath.Join(folder, "HEAD"))
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(raw, "\n")
	if ref, ok := strings.CutPrefix(line, "ref: "); ok {
		name, isBranch := strings.CutPrefix(strings.TrimSpace(ref), "refs/heads/")
		if !isBranch || name == ".invalid" { // as git writes for reftable
			return "branch unknown"
		}
		return name
	}
	if len(line) < 40 || strings.Trim(line, "0123456789abcdef") != "" {
		return ""
	}
	return line[:7] + " detached"
}

// gitFolder returns the folder with HEAD for the repository at or above dir. In a linked worktree
// or submodule, .git is a file that names it.
func gitFolder(dir string) string {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		found := filepath.Join(at, ".git")
		info, err := os.Stat(found)
		if err == nil && info.IsDir() {
			return found
		}
		if err == nil {
			raw, err := smallFile(found)
			target, ok := strings.CutPrefix(strings.TrimSpace(raw), "gitdir: ")
			if err != nil || !ok {
				return ""
			}
			if !filepath.IsAbs(target) {
				target = filepath.Join(at, target)
			}
			return target
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// ExternalGitDir returns git's folder for the repository that contains root, if it is not below
// root: in a linked worktree, a submodule or a folder below the top. Otherwise "".
func ExternalGitDir(root string) string {
	folder := gitFolder(root)
	if folder == "" {
		return ""
	}
	root, folder = resolved("/", root), resolved("/", folder)
	if within(folder, root) || within(root, folder) {
		return ""
	}
	return folder
}
