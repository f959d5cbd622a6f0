//go:build unix

package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// dangers are the ways by which git runs a program, or reads another repository, because a
// repository says so. Each is a text that is the same as long as the danger is.
func dangers(repository, workspace string) []string {
	info, err := os.Lstat(repository)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return []string{"it cannot be read: " + err.Error()}
	case info.Mode().IsRegular():
		return pointsElsewhere(repository, workspace)
	case !info.IsDir():
		return []string{"it is a link"}
	}
	out := append(programsInHooks(filepath.Join(repository, "hooks")), programsIn(filepath.Join(repository, "config"))...)
	out = append(out, programsIn(filepath.Join(repository, "config.worktree"))...)
	if data, err := os.ReadFile(filepath.Join(repository, "commondir")); err == nil {
		out = append(out, "commondir "+strings.TrimSpace(string(data)))
	}
	return out
}

// inner are the repositories that a repository holds: those of its submodules, and of work trees
// that are linked to it. A .git file anywhere may lead to one, so that what stands in it counts as
// what stands in the repository.
func inner(repository string, depth int) []string {
	out := subfolders(filepath.Join(repository, "worktrees"))
	folders := subfolders(filepath.Join(repository, "modules"))
	for len(folders) > 0 && depth < maxModuleDepth && len(out) < maxModules {
		var below []string
		for _, dir := range folders {
			if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err == nil {
				out = append(append(out, dir), inner(dir, depth+1)...)
			} else {
				below = append(below, subfolders(dir)...) // a name with a slash
			}
		}
		folders, depth = below, depth+1
	}
	return out
}

// dangersInside are those of one of these, of which git writes by itself where its work tree and
// the common folder are.
func dangersInside(at, workspace string) []string {
	return slices.DeleteFunc(dangers(at, workspace), func(danger string) bool {
		if dir, ok := strings.CutPrefix(danger, "commondir "); ok {
			return filepath.Dir(at) == filepath.Join(leadsTo(at, dir), "worktrees")
		}
		tree, ok := strings.CutPrefix(danger, "setting core.worktree")
		tree, plain := strings.CutPrefix(strings.TrimSpace(tree), "=")
		return ok && plain && within(leadsTo(at, strings.Trim(strings.TrimSpace(tree), `"`)), workspace)
	})
}

// leadsTo is a path as a file in a folder names it, free of links where it is there.
func leadsTo(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// pointsElsewhere is what a .git file leads to, unless that is a repository within the workspace's
// own, which is looked at for itself.
func pointsElsewhere(file, workspace string) []string {
	dir, ok := pointer(file, "gitdir: ", filepath.Dir(file))
	if ok && slices.Contains(inner(filepath.Join(workspace, ".git"), 0), dir) {
		return nil
	}
	return []string{"it leads to " + dir}
}

// waiting are the commands that a stopped rebase of a repository, or of a work tree linked to it,
// would run when somebody goes on with it: the lines exec of its list, and a strategy, which is a
// program by its name.
func waiting(repository string) (out []string) {
	for _, dir := range append([]string{repository}, inner(repository, 0)...) {
		for _, name := range []string{"git-rebase-todo", "git-rebase-todo.backup", "strategy"} {
			file := filepath.Join(dir, "rebase-merge", name)
			if info, err := os.Lstat(file); err != nil || info.Size() > maxConfig {
				continue
			}
			data, _ := os.ReadFile(file)
			for line := range strings.Lines(string(data)) {
				words := strings.Fields(line)
				switch {
				case len(words) == 0:
				case name != "strategy" && (words[0] == "exec" || words[0] == "x"), name == "strategy" && !slices.Contains(strategies(), words[0]):
					out = append(out, strings.TrimSpace(name+": "+strings.TrimSpace(line)))
				}
			}
		}
	}
	return out
}

// strategies are those of git itself.
func strategies() []string {
	return []string{"ort", "recursive", "resolve", "octopus", "ours", "subtree"}
}

func programsInHooks(dir string) (out []string) {
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return []string{"hooks is a link"}
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".sample") { // git runs none by this name, and puts a dozen into each repository
			continue
		}
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		out = append(out, "hook "+e.Name()+" "+fingerprint(filepath.Join(dir, e.Name())))
	}
	return out
}

// maxConfig bounds a configuration that is read.
const maxConfig = 1 << 20

// programsIn lists the settings of a configuration that are not known to be harmless. It takes
// git's own file format line by line: what it does not understand is a danger.
func programsIn(file string) (out []string) {
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return nil
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxConfig {
		return []string{filepath.Base(file) + " cannot be read"}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return []string{filepath.Base(file) + " cannot be read"}
	}
	section := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "["); ok {
			name, after, closed := strings.Cut(rest, "]")
			section, line = strings.ToLower(strings.Fields(name + " ?")[0]), strings.TrimSpace(after)
			if !closed {
				out = append(out, "setting "+line)
			}
			if line == "" {
				continue
			}
		}
		key, _, _ := strings.Cut(line, "=")
		if !slices.Contains(harmless(), section+"."+strings.ToLower(strings.TrimSpace(key))) || strings.HasSuffix(line, `\`) {
			out = append(out, "setting "+section+"."+line)
		}
	}
	return out
}

// harmless are the settings that git itself writes when a repository is made, cloned or worked in.
func harmless() []string {
	return []string{"core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.ignorecase", "core.precomposeunicode",
		"core.symlinks", "core.autocrlf", "core.eol", "core.sparsecheckout", "core.sparsecheckoutcone", "extensions.objectformat", "extensions.partialclone", "extensions.refstorage",
		"remote.url", "remote.fetch", "remote.promisor", "remote.partialclonefilter", "remote.tagopt", "branch.remote", "branch.merge", "branch.rebase",
		"submodule.url", "submodule.active", "submodule.branch", "user.name", "user.email", "init.defaultbranch", "pull.rebase", "push.default", "commit.gpgsign",
		"lfs.repositoryformatversion", "gc.auto"}
}

func fingerprint(file string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return "unread"
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
