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

// Bounds of completion.
const (
	maxCompletions = 200_000 // files that are completed from
	firstFiles     = 1_000   // that are completed from while the others are looked for
	lastEarly      = 64_000  // and from where on it is waited for all
	maxChanged     = 200     // of those that git says were changed
	maxEntries     = 2_000   // names of a folder outside
)

// Files lists the workspace for completion, what changed last first, then its folders. What git
// says was changed, by changed, is near. If some is not nil, it gets first parts of a long list,
// each with those before, in no order.
func Files(ctx context.Context, tree search.Tree, some func(api.Files), changed func(context.Context) []string) (api.Files, error) {
	q := search.GlobQuery{Pattern: "**", Limit: maxCompletions}
	if some != nil {
		var mu sync.Mutex
		var early []string
		next := firstFiles
		q.Found = func(path string) {
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
	out.Near = changed(ctx)
	return out, nil
}

// Changed lists what git says differs in a work tree, as seen from a folder; nothing without a
// repository.
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

// FolderIn lists folders that a user writes out, from a workspace: names alone, which they could
// list themselves. What a model may read of them is asked when it reads.
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
