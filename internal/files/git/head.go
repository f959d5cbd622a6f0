package git

import (
	"os"
	"path/filepath"
	"strings"
)

// Head is what is checked out in the repository that dir is in: the name of a branch, or the first
// digits of a commit and "detached". If empty, there is no repository, or it cannot be told. It
// reads one or two small files and runs nothing, so that it can be asked often.
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
		if !isBranch || name == ".invalid" { // the latter: the repository keeps its references elsewhere
			return ""
		}
		return name
	}
	if len(line) < 40 || strings.Trim(line, "0123456789abcdef") != "" {
		return ""
	}
	return line[:7] + " detached"
}

// gitFolder is where the repository of dir, or of a folder above it, keeps HEAD. In a linked work
// tree and in a submodule, .git is a file that names it.
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

// Outside is where git keeps the state of the repository that root lies in, if that is not below
// root: of a linked work tree, a submodule, a folder below the top. If empty, there is none.
func Outside(root string) string {
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
