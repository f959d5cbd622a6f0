//go:build unix

package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// dangers lists the ways in which a new repository in a workspace, or one inside it (a submodule or
// linked work tree), makes git run a program or read another repository. If inner, the repository
// is itself inside another one, and git writes its work tree's location into it.
func dangers(repository, workspace string, inner bool) (out []string) {
	info, err := os.Lstat(repository)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return []string{"it cannot be read: " + err.Error()}
	case info.Mode().IsRegular():
		if dir, ok := pointer(repository, "gitdir: ", filepath.Dir(repository)); !ok || !ofRepository(dir, filepath.Join(workspace, ".git")) {
			return []string{"it leads to " + dir}
		}
		return nil
	case !info.IsDir():
		return []string{"it is a link"}
	}
	_ = filepath.WalkDir(repository, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			out = append(out, "it cannot be read: "+err.Error())
		case e.IsDir() && (path == repository || exists(filepath.Join(path, "HEAD"))):
			out = append(out, programsOf(path, workspace, inner || path != repository)...)
		case e.Name() == ".git" && path != repository:
			out = append(out, "it holds a work tree of another repository")
		}
		return nil
	})
	return out
}

// ofRepository reports whether dir belongs to a submodule or linked work tree inside the
// repository's folder.
func ofRepository(dir, repository string) bool {
	return slices.ContainsFunc([]string{"modules", "worktrees"}, func(name string) bool {
		in := filepath.Join(repository, name)
		return dir != in && isWithin(dir, in)
	})
}

func programsOf(dir, workspace string, inner bool) []string {
	if !inner {
		workspace = ""
	}
	out := slices.Concat(programsInHooks(filepath.Join(dir, "hooks")), programsIn(filepath.Join(dir, "config"), workspace), programsIn(filepath.Join(dir, "config.worktree"), workspace), waiting(dir))
	if common, err := os.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		at := leadsTo(dir, strings.TrimSpace(string(common)))
		if !inner || filepath.Dir(dir) != filepath.Join(at, "worktrees") {
			out = append(out, "its objects are in "+at)
		}
	}
	for _, name := range []string{"alternates", "http-alternates"} {
		if exists(filepath.Join(dir, "objects", "info", name)) {
			out = append(out, "it takes objects from another repository")
		}
	}
	return out
}

// leadsTo resolves a path named by a file in dir, with links resolved if it exists.
func leadsTo(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if real, ok := realOf(path); ok {
		return real
	}
	return filepath.Clean(path)
}

// waiting lists the commands of a stopped rebase that would run when it continues: its exec lines,
// and a strategy, which names a program.
func waiting(repository string) (out []string) {
	for _, name := range []string{"git-rebase-todo", "git-rebase-todo.backup", "strategy"} {
		file := filepath.Join(repository, "rebase-merge", name)
		if info, err := os.Lstat(file); err != nil || info.Size() > maxConfig {
			continue
		}
		data, _ := os.ReadFile(file)
		for line := range strings.Lines(string(data)) {
			words := strings.Fields(line)
			switch {
			case len(words) == 0:
			case name != "strategy" && (words[0] == "exec" || words[0] == "x"),
				name == "strategy" && !slices.Contains([]string{"ort", "recursive", "resolve", "octopus", "ours", "subtree"}, words[0]):
				out = append(out, name+": "+strings.TrimSpace(line))
			}
		}
	}
	return out
}

// programsInHooks lists the hooks in a folder. Git never runs the .sample files that it puts into
// each repository.
func programsInHooks(dir string) (out []string) {
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return []string{"hooks is a link"}
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.Mode().IsRegular() && !strings.HasSuffix(e.Name(), ".sample") {
			out = append(out, "hook "+e.Name())
		}
	}
	return out
}

const maxConfig = 1 << 20

// programsIn lists the settings of a configuration file that are not known to be harmless. It
// parses git's format line by line and treats anything it cannot parse as a danger. If workspace is
// not "", a work tree may be any folder in it.
func programsIn(file, workspace string) (out []string) {
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return nil
	}
	var data []byte
	if err == nil && info.Mode().IsRegular() && info.Size() <= maxConfig {
		data, err = os.ReadFile(file)
	} else {
		err = fs.ErrInvalid
	}
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
		key, value, _ := strings.Cut(line, "=")
		key = section + "." + strings.ToLower(strings.TrimSpace(key))
		switch {
		case strings.HasSuffix(line, `\`):
		case slices.Contains(harmless(), key):
			continue
		case key == "core.worktree" && workspace != "" && isWithin(leadsTo(filepath.Dir(file), strings.Trim(strings.TrimSpace(value), `"`)), workspace):
			continue
		}
		out = append(out, "setting "+section+"."+line)
	}
	return out
}

// harmless lists the settings that git itself writes on init, clone and everyday work.
func harmless() []string {
	return []string{"core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.ignorecase", "core.precomposeunicode",
		"core.symlinks", "core.autocrlf", "core.eol", "core.sparsecheckout", "core.sparsecheckoutcone", "extensions.objectformat", "extensions.partialclone", "extensions.refstorage",
		"remote.url", "remote.fetch", "remote.promisor", "remote.partialclonefilter", "remote.tagopt", "branch.remote", "branch.merge", "branch.rebase",
		"submodule.url", "submodule.active", "submodule.branch", "user.name", "user.email", "init.defaultbranch", "pull.rebase", "push.default", "commit.gpgsign",
		"lfs.repositoryformatversion", "gc.auto"}
}
