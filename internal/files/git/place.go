package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ExternalPaths lists the folders and files outside root that git would read for this repository
// although nothing outside root confirms the link. A folder filled by somebody else can point its
// .git file, links in it, or its alternates at a private repository, and permission to read the
// folder does not cover that. Confirmed cases are not listed:
//
//   - a repository above root, found by walking up;
//   - a linked worktree or submodule whose repository points back here.
//
// A worktree outside root is listed too, unless its own .git is this repository.
func (r *Repo) ExternalPaths(ctx context.Context, root string) ([]string, error) {
	own := filepath.Join(r.Top, ".git")
	vouched := []string{root}
	if info, err := os.Lstat(own); err == nil && info.IsDir() {
		vouched = append(vouched, own)
	} else if r.pointsBack(ctx, own) {
		vouched = append(vouched, r.GitDir, r.Common)
	}
	places, err := r.places()
	if r.Top != "" && !r.ownedBy(own) {
		places = append(places, r.Top)
	}
	var found []string
	for _, p := range places {
		in := func(dir string) bool { return within(p, dir) }
		if !slices.ContainsFunc(vouched, in) && !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	return found, err
}

// ownedBy reports whether the worktree's .git is this repository; otherwise the repository's
// core.worktree selected it.
func (r *Repo) ownedBy(own string) bool {
	if text, err := smallFile(own); err == nil {
		to, ok := strings.CutPrefix(text, "gitdir: ")
		return ok && resolved(r.Top, strings.TrimRight(to, "\r\n")) == r.GitDir
	}
	return resolved(r.Top, ".git") == r.GitDir
}

// ExternalPaths is [Repo.ExternalPaths] for the repository that contains dir, even where git would
// refuse to work. Outside a repository it returns nil.
func (g Git) ExternalPaths(ctx context.Context, dir, root string) ([]string, error) {
	r := &Repo{git: g, dir: dir}
	out, err := r.text(ctx, "rev-parse", "--absolute-git-dir", "--git-common-dir", "--show-toplevel")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	switch {
	case errors.Is(err, ErrNotRepository) && len(lines) < 2:
		return nil, nil
	case err != nil && (len(lines) != 2 || !errors.Is(err, ErrNotRepository)), err == nil && len(lines) != 3:
		return nil, fail(CodeIO, err, "the repository of %s cannot be found out about", dir)
	}
	r.GitDir, r.Common = resolved(dir, lines[0]), resolved(dir, lines[1])
	if len(lines) == 3 {
		r.Top = resolved(dir, lines[2])
		return r.ExternalPaths(ctx, root)
	}
	r.Top = filepath.Dir(r.GitDir) // inside .git itself
	return r.ExternalPaths(ctx, root)
}

// pointsBack reports whether the outside repository names this worktree: for a linked one in the
// file gitdir, for a submodule in core.worktree.
func (r *Repo) pointsBack(ctx context.Context, own string) bool {
	if raw, err := smallFile(filepath.Join(r.GitDir, "gitdir")); err == nil {
		return resolved(r.GitDir, strings.TrimSpace(raw)) == own && r.Common == filepath.Dir(filepath.Dir(r.GitDir))
	}
	tree, err := r.text(ctx, "config", "--file", filepath.Join(r.GitDir, "config"), "--no-includes", "--get", "core.worktree")
	return err == nil && r.Common == r.GitDir && resolved(r.GitDir, strings.TrimSpace(tree)) == r.Top
}

// places lists the locations of the repository's data, without links: its folders, the targets of
// links in them, and alternates.
func (r *Repo) places() ([]string, error) {
	objects := filepath.Join(r.Common, "objects")
	found := []string{r.GitDir, r.Common}
	for _, dir := range []string{r.GitDir, r.Common, objects, filepath.Join(objects, "pack")} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // git itself will report the error
		}
		for _, e := range entries {
			if e.Type()&os.ModeSymlink != 0 {
				found = append(found, resolved(dir, e.Name()))
			}
		}
	}
	borrowed, err := alternates(objects)
	return append(found, borrowed...), err
}

// Limits for alternates; git's own depth limit is 5.
const (
	maxAlternates = 6
	maxSmallFile  = 16 << 10
)

// alternates lists the object folders that a repository borrows from, directly or indirectly.
func alternates(objects string) (found []string, err error) {
	from := []string{objects}
	for range maxAlternates {
		var next []string
		for _, dir := range from {
			path := filepath.Join(dir, "info", "alternates")
			text, err := smallFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil || strings.Contains(text, `"`) || len(found)+len(next) > maxAlternates*10 { // quoted names are not supported
				return found, fail(CodeInvalid, err, "%s cannot be checked, so the repository is not read; look with bash", path)
			}
			for line := range strings.Lines(text) {
				if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, "#") {
					next = append(next, resolved(dir, line))
				}
			}
		}
		found, from = append(found, next...), next
	}
	return found, nil
}

// smallFile reads a short regular file; others could block or fill the memory.
func smallFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSmallFile {
		return "", errors.New("not a small regular file")
	}
	raw, err := os.ReadFile(path)
	return string(raw), err
}
