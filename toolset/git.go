package toolset

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/files/git"
	"adze/internal/files/workspace"
	"adze/tool"
)

// repos is the workspace and the hardened git.
type repos struct {
	files
	git git.Git
}

// gitPlace is a repository with the call's path in it, spec, relative to git's directory.
type gitPlace struct {
	*git.Repo
	path workspace.Path
	spec string
	// strip is the workspace's path in the repository, add the repository's path in the workspace;
	// both end in a slash and at least one is empty.
	strip, add string
}

// begin finds a path's repository. The path need not exist: a deleted file has a history too.
func (g repos) begin(ctx context.Context, ask asker, name string) (gitPlace, error) {
	if g.root.Staged() != nil {
		return gitPlace{}, tool.Fail(tool.CodeInvalidArguments, "this turn works on a view of the workspace, which only bash shows to git; run git status with bash")
	}
	p, err := g.locate(ctx, ask, tool.Read, orHere(name))
	if err != nil {
		return gitPlace{}, err
	}
	at := gitPlace{path: p}
	dir := nearestFolder(p.Abs())
	if at.spec, err = filepath.Rel(dir, p.Abs()); err != nil {
		return at, err
	}
	if at.Repo, err = g.git.Open(ctx, dir); err != nil {
		return at, err
	}
	at.nameFrom(g.root.Dir(), dir)
	return at, g.askElsewhere(ctx, ask, at, dir)
}

// nowhere returns the error for a path unknown to both disk and git.
func (g repos) nowhere(at gitPlace, where string) error {
	hint := "git log with bash shows files that were deleted, list and glob those there are"
	if names := g.root.Similar(at.path); len(names) > 0 {
		hint = "did you mean " + strings.Join(names, ", ") + "?"
	}
	return tool.Fail(tool.CodeNotFound, "%s does not exist, %s; %s", brief(at.path.Display()), where, hint)
}

// askElsewhere asks before git reads outside the allowed folder.
func (g repos) askElsewhere(ctx context.Context, ask asker, at gitPlace, dir string) error {
	consented := g.root.Dir()
	if at.path.Outside() {
		consented = dir
	}
	outside, err := at.ExternalPaths(ctx, consented)
	for _, path := range outside {
		if err := ask(ctx, tool.Need{Permission: tool.Read, Target: path}); err != nil {
			return err
		}
	}
	return err
}

// nearestFolder returns path or the nearest existing folder above it.
func nearestFolder(path string) string {
	for {
		if info, err := os.Lstat(path); err == nil && info.IsDir() || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// nameFrom converts repository paths to names for other tools.
func (p *gitPlace) nameFrom(root, dir string) {
	below := func(path, dir string) (string, bool) {
		rel, err := filepath.Rel(dir, path)
		if err != nil || !filepath.IsLocal(rel) {
			return "", false
		}
		return strings.TrimPrefix(filepath.ToSlash(rel)+"/", "./"), true
	}
	if _, inside := below(dir, root); !inside {
		p.add = filepath.ToSlash(p.Top) + "/"
	} else if strip, ok := below(root, p.Top); ok {
		p.strip = strip
	} else {
		p.add, _ = below(p.Top, root)
	}
}

// name returns a repository path for the model.
func (p gitPlace) name(path string) string {
	return shownName(cmp.Or(p.add+strings.TrimPrefix(path, p.strip), "./"))
}

// String names the place in a sentence.
func (p gitPlace) String() string {
	if p.path.Display() == "." {
		return "the workspace"
	}
	return shownName(p.path.Display())
}

func (p gitPlace) arrow(from, to string) string {
	if from == "" {
		return p.name(to)
	}
	return p.name(from) + " -> " + p.name(to)
}
