//go:build unix

package sandbox

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/internal/sandbox/proc"
)

// gitPlaces collects a workspace's files and folders that git runs or reads because of its
// settings: hooks, filters, included files.
type gitPlaces struct {
	workspace string
	runs      []string
	hooks     []string // the hook folders among runs
}

// gitRuns asks git for those places, for the workspace's repository, whose folder may lie
// elsewhere, and for nested repositories with such settings. If git fails, the list is empty.
func gitRuns(workspace, elsewhere string, nested, env []string) *gitPlaces {
	g := &gitPlaces{workspace: workspace}
	dirs := []string{filepath.Join(workspace, ".git")}
	if elsewhere != "" {
		dirs = append(dirs, elsewhere)
	}
	if exists(dirs[0]) {
		g.read(workspace, dirs, env)
	}
	for _, nested := range nested[:min(len(nested), maxNested)] {
		at := nested
		if filepath.Base(at) == ".git" {
			at = filepath.Dir(at)
		}
		if programsIn(filepath.Join(nested, "config"), "") != nil {
			g.read(at, []string{nested}, env)
		}
	}
	return g
}

func (g *gitPlaces) read(top string, dirs, env []string) {
	fields, err := gitList(top, proc.WithoutPathsIn(env, g.workspace))
	if err != nil {
		return
	}
	for i := 0; i+1 < len(fields); i += 2 {
		if file, ok := strings.CutPrefix(fields[i], "file:"); ok {
			g.add(top, file)
		}
		key, value, _ := strings.Cut(fields[i+1], "\n")
		g.setting(top, dirs, key, value)
	}
}

const settingsTime = 10 * time.Second

// gitList returns git's settings: origins at even indexes, each followed by a key, a newline and
// the value.
func gitList(dir string, env []string, flags ...string) ([]string, error) {
	return gitLists(dir, proc.WithoutPathsIn(env, dir), maxConfig, append([]string{"config", "--list", "--show-origin", "-z", "--includes"}, flags...)...)
}

// gitLists runs git and splits its output, at most most bytes, at NULs.
func gitLists(dir string, env []string, most int, argv ...string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), settingsTime)
	defer cancel()
	r, err := proc.Supervisor{}.Run(ctx, proc.Command{
		Argv: append([]string{"git", "-c", "core.fsmonitor=false"}, argv...), Dir: dir, Env: env, Separate: true, Head: most, Tag: "git list",
	})
	if err == nil {
		err = r.Err()
	}
	return strings.Split(strings.TrimSuffix(r.Output.Head, "\x00"), "\x00"), err
}

func (g *gitPlaces) setting(top string, dirs []string, key, value string) {
	section, _, _ := strings.Cut(strings.ToLower(key), ".")
	switch section {
	case "include", "includeif":
		for _, dir := range append(slices.Clone(dirs), top) {
			g.add(dir, value)
		}
		return
	case "remote", "branch", "submodule", "url":
		return
	}
	if strings.EqualFold(key, "core.hookspath") {
		at := g.add(top, value)
		g.hooks = append(g.hooks, at)
		if parent := filepath.Dir(at); filepath.Base(at) == "_" && parent != top { // husky's hooks run the scripts beside their folder
			g.hooks = append(g.hooks, g.add("", parent))
		}
		return
	}
	for word := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(" \t\"'`;&|()<>=", r) }) {
		if word = strings.TrimPrefix(word, "!"); strings.Contains(word, "/") && !strings.Contains(word, "://") {
			g.add(top, word)
		}
	}
}

// add adds a place below the workspace and returns its path.
func (g *gitPlaces) add(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path = filepath.Clean(path)
	if path != g.workspace && isWithin(path, g.workspace) && !isWithin(path, filepath.Join(g.workspace, ".git")) && !slices.Contains(g.runs, path) {
		g.runs = append(g.runs, path)
	}
	return path
}
