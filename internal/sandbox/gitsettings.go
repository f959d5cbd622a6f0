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

// gitPlaces are files and folders of a workspace that git runs or reads because its settings say
// so: hooks, filters, included files.
type gitPlaces struct {
	workspace string
	runs      []string
	hooks     []string // of runs, the folders of hooks
}

// gitRuns asks git for the places, for the repository of a workspace, whose folder may lie
// elsewhere, and for nested ones that have settings of the kind. Where git cannot tell, none are
// known.
func gitRuns(workspace, elsewhere string, nested, env []string) *gitPlaces {
	g := &gitPlaces{workspace: workspace}
	dirs := []string{filepath.Join(workspace, ".git")}
	if elsewhere != "" {
		dirs = append(dirs, elsewhere)
	}
	if there(dirs[0]) {
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

// read asks git about one repository.
func (g *gitPlaces) read(top string, dirs, env []string) {
	fields, err := gitList(top, proc.Outside(env, g.workspace))
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

// settingsTime bounds what git may take to tell its settings.
const settingsTime = 10 * time.Second

// gitList asks git for its settings: where each comes from, then its name and value.
func gitList(dir string, env []string, flags ...string) ([]string, error) {
	return gitLists(dir, proc.Outside(env, dir), maxConfig, append([]string{"config", "--list", "--show-origin", "-z", "--includes"}, flags...)...)
}

// gitLists asks git for a list, of so many bytes at most, whose entries end in NUL.
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

// setting adds the places that one setting names.
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
		if parent := filepath.Dir(at); filepath.Base(at) == "_" && parent != top { // husky's hooks run those beside them
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

// add adds a place in the workspace that is not the workspace itself.
func (g *gitPlaces) add(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path = filepath.Clean(path)
	if path != g.workspace && within(path, g.workspace) && !within(path, filepath.Join(g.workspace, ".git")) && !slices.Contains(g.runs, path) {
		g.runs = append(g.runs, path)
	}
	return path
}
