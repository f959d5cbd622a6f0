//go:build unix

package sandbox

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/visibility"
)

// gitSettings knows which files of a workspace git runs or reads because its settings say so:
// hooks, filters, included files. It asks git, and asks again when a file changed from which the
// answer came.
type gitSettings struct {
	mu    sync.Mutex
	known bool
	from  map[string]visibility.Mark
	runs  []string
	hooks []string // of runs, the folders of hooks

	workspace string
	env       []string // of the command that asked
}

// settingsTime bounds what git may take to tell its settings.
const settingsTime = 10 * time.Second

// of lists the places, for the repository of a workspace, whose folder may lie elsewhere, and for
// nested ones. Where git cannot tell, the hooks that its settings usually name are all that is
// known.
func (g *gitSettings) of(top, elsewhere string, nested, env []string) (runs, hooks []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known && !g.changed() {
		return g.runs, g.hooks
	}
	g.known, g.from, g.runs, g.hooks = true, map[string]visibility.Mark{}, nil, nil
	g.workspace, g.env = top, env
	dirs := []string{filepath.Join(top, ".git")}
	if elsewhere != "" {
		dirs = append(dirs, elsewhere)
	}
	g.remember(dirs[0])
	if _, there := lookAt(dirs[0]); there {
		g.read(top, dirs)
	}
	for _, nested := range nested[:min(len(nested), maxNested)] {
		at := nested
		if filepath.Base(at) == ".git" {
			at = filepath.Dir(at)
		}
		g.remember(filepath.Join(nested, "config"))
		if programsIn(filepath.Join(nested, "config")) != nil {
			g.read(at, []string{nested})
		}
	}
	return g.runs, g.hooks
}

// read asks git about one repository.
func (g *gitSettings) read(top string, dirs []string) {
	for _, dir := range dirs {
		g.remember(filepath.Join(dir, "config"))
		g.remember(filepath.Join(dir, "config.worktree"))
	}
	for _, kv := range g.env {
		if home, ok := strings.CutPrefix(kv, "HOME="); ok {
			g.remember(filepath.Join(home, ".gitconfig"))
			g.remember(filepath.Join(home, ".config", "git", "config"))
		}
	}
	fields, err := gitList(top, proc.Outside(g.env, g.workspace))
	if err != nil {
		g.known = false // it is asked again
		return
	}
	for i := 0; i+1 < len(fields); i += 2 {
		if file, ok := strings.CutPrefix(fields[i], "file:"); ok {
			if !filepath.IsAbs(file) {
				file = filepath.Join(top, file)
			}
			g.remember(file)
			g.add(file)
		}
		key, value, _ := strings.Cut(fields[i+1], "\n")
		g.setting(top, dirs, key, value)
	}
}

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
func (g *gitSettings) setting(top string, dirs []string, key, value string) {
	key = strings.ToLower(key)
	switch {
	case key == "core.hookspath":
		at := value
		if !filepath.IsAbs(at) {
			at = filepath.Join(top, at)
		}
		g.hooks = append(g.hooks, g.add(at)...)
		if parent := filepath.Dir(at); filepath.Base(at) == "_" && parent != top {
			g.hooks = append(g.hooks, g.add(parent)...) // husky's hooks run those beside them
		}
	case strings.HasPrefix(key, "include.") || strings.HasPrefix(key, "includeif."):
		for _, dir := range append(slices.Clone(dirs), top) {
			g.add(filepath.Join(dir, value))
		}
		g.add(value)
	case strings.HasPrefix(key, "remote.") || strings.HasPrefix(key, "branch.") || strings.HasPrefix(key, "submodule.") || strings.HasPrefix(key, "url."):
	default:
		for word := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(" \t\"'`;&|()<>=", r) }) {
			if word = strings.TrimPrefix(word, "!"); !strings.Contains(word, "/") || strings.Contains(word, "://") {
				continue
			}
			if filepath.IsAbs(word) {
				g.add(word)
			} else {
				g.add(filepath.Join(top, word))
			}
		}
	}
}

// add adds a place in the workspace that is not the workspace itself.
func (g *gitSettings) add(path string) (added []string) {
	path = filepath.Clean(path)
	if path == g.workspace || !within(path, g.workspace) || within(path, filepath.Join(g.workspace, ".git")) || slices.Contains(g.runs, path) {
		return nil
	}
	g.runs = append(g.runs, path)
	return []string{path}
}

func (g *gitSettings) remember(path string) {
	g.from[path] = visibility.New().Mark(path)
}

func (g *gitSettings) changed() bool { return !unchanged(g.from) }

// unchanged reports that files are as they were.
func unchanged(from map[string]visibility.Mark) bool {
	glance := visibility.New()
	for path, mark := range from {
		if glance.Mark(path) != mark {
			return false
		}
	}
	return true
}
