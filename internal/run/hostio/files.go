package hostio

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"adze/internal/files/git"
	"adze/internal/files/search"
	"adze/session/api"
)

// Limits for completion.
const (
	maxCompletions = 200_000 // listed files
	firstFiles     = 1_000   // first partial list
	lastEarly      = 64_000  // partial lists end here
	maxChanged     = 200     // changed files from git
	maxEntries     = 2_000   // names in an outside folder
)

// Files lists the workspace for completion, recently changed files first, then its folders. Near
// holds files that changed reports. If some is not nil, it receives growing partial lists,
// unordered.
func Files(ctx context.Context, tree search.Tree, some func(api.Files), changed func(context.Context) []string) (api.Files, error) {
	q := search.GlobQuery{Pattern: "**", Limit: maxCompletions}
	if some != nil {
		var mu sync.Mutex
		var early []string
		next := firstFiles
		q.OnPath = func(path string) {
			mu.Lock()
			defer mu.Unlock()
			if len(early) == lastEarly {
				return
			}
			if early = append(early, path); len(early) == next {
				some(api.Files{Paths: slices.Clone(early)})
				next *= 8
			}
		}
	}
	found, err := tree.Glob(ctx, q)
	if err != nil {
		return api.Files{}, err
	}
	out := api.Files{Paths: make([]string, len(found.Files))}
	folders := map[string]bool{}
	for i, f := range found.Files {
		out.Paths[i] = f.Path
		for at := strings.LastIndexByte(f.Path, '/'); at > 0 && !folders[f.Path[:at+1]]; at = strings.LastIndexByte(f.Path[:at], '/') {
			folders[f.Path[:at+1]] = true
		}
	}
	out.Paths = append(out.Paths, slices.Sorted(maps.Keys(folders))...)
	if some != nil {
		some(out)
	}
	out.Recent = changed(ctx)
	return out, nil
}

// Changed lists a work tree's changed files relative to a folder; none without a repository.
func Changed(ctx context.Context, g git.Git, dir string) (out []string) {
	r, err := g.Open(ctx, dir)
	if err != nil {
		return nil
	}
	s, err := r.Status(ctx, ".", git.UntrackedAll, maxChanged)
	if err != nil {
		return nil
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for _, e := range slices.Concat(s.Conflicts.Entries, s.Changed.Entries, s.Staged.Entries, s.Untracked.Entries) {
		if rel, err := filepath.Rel(dir, filepath.Join(r.Top, e.Path)); err == nil && !strings.HasPrefix(rel, "..") {
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
}

// FolderIn returns a function that lists a folder named by the user, relative to the workspace. It
// returns only names, which the user could list anyway; a model's access is checked when it reads.
func FolderIn(workspace string) func(ctx context.Context, dir string) (base string, names []string, err error) {
	return func(_ context.Context, dir string) (string, []string, error) {
		real := dir
		if rest, ok := strings.CutPrefix(dir, "~/"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				return "", nil, err
			}
			real = filepath.Join(home, rest) + "/"
		}
		at := real
		if !filepath.IsAbs(real) {
			at = filepath.Join(workspace, real)
		}
		f, err := os.Open(at)
		if err != nil {
			return "", nil, err
		}
		defer f.Close()
		entries, err := f.ReadDir(maxEntries)
		if len(entries) == 0 && err != nil {
			return "", nil, err
		}
		var names []string
		for _, e := range entries {
			name := e.Name()
			if info, err := os.Stat(filepath.Join(at, name)); err == nil && info.IsDir() {
				name += "/"
			}
			names = append(names, name)
		}
		slices.Sort(names)
		return real, names, nil
	}
}
