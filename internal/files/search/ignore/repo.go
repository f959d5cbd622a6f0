package ignore

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// MaxFile bounds the bytes read from an ignore or configuration file.
const MaxFile = 8 << 20

// Names that a walk looks for in every folder. A folder with GitDir or JJDir is the top of a
// repository.
const (
	GitFile = ".gitignore"
	OwnFile = ".ignore"
	GitDir  = ".git"
	JJDir   = ".jj"
)

// Finder reads configuration and excludes outside the walked folders.
type Finder struct {
	// Env looks up a variable; nil means os.Getenv.
	Env func(string) string
	// UserConfig, if not nil, caches the user's configuration for all repositories of a walk.
	UserConfig *UserConfig
	// Top is the folder from which .gitignore files apply outside a repository. They always apply
	// from Root's folder.
	Top string
	// MapPath maps a path to the path to open; nil means the path itself.
	MapPath func(path string) string
}

func (f Finder) openPath(path string) string {
	if f.MapPath == nil || path == "" {
		return path
	}
	return f.MapPath(path)
}

// UserConfig caches the user's configuration at first use. The zero value is ready to use; it is
// safe for concurrent use.
type UserConfig struct {
	once   sync.Once
	config config // without any repository's configuration

	mu    sync.Mutex
	rules map[string]*Rules // files named by core.excludesFile, by path
}

// Root returns the level for dir, an absolute path: the .ignore files in all folders above it and
// the excludes and .gitignore files of its repository. An ignored dir is searched nevertheless,
// since the caller named it.
func (f Finder) Root(dir string) *Level { return f.level(filepath.Clean(dir), true) }

// level returns the level for dir; with first, a dir outside any repository is treated as a
// repository's top.
func (f Finder) level(dir string, first bool) *Level {
	l := &Level{}
	if up := filepath.Dir(dir); up != dir {
		l = f.level(up, false)
	}
	top := (first || dir == f.Top) && !l.inside
	for _, name := range [...]string{GitDir, JJDir} {
		_, err := os.Lstat(f.openPath(filepath.Join(dir, name)))
		top = top || err == nil
	}
	return l.Enter(filepath.Base(dir), f.filesOf(dir, top, l.inside))
}

// filesOf reads a folder's ignore files; the folder may be a repository's top or inside one.
func (f Finder) filesOf(dir string, top, inside bool) Files {
	files := Files{DotIgnore: Parse(readInTree(f.openPath(filepath.Join(dir, OwnFile)))), Repo: top}
	if top || inside {
		files.Git = Parse(readInTree(f.openPath(filepath.Join(dir, GitFile))))
	}
	if top {
		files.Excludes = f.Excludes(dir)
	}
	return files
}

// Excludes returns the rules of .git/info/exclude and core.excludesFile for the repository at top
// ("" for none), highest first. Their patterns are relative to top.
func (f Finder) Excludes(top string) []*Rules {
	var all []*Rules
	common := f.gitDir(top)
	if common != "" {
		all = addRules(all, Parse(readFile(f.openPath(filepath.Join(common, "info", "exclude")))))
	}
	return addRules(all, f.personRules(f.excludesFile(top, common)))
}

func addRules(all []*Rules, r *Rules) []*Rules {
	if r.Len() > 0 {
		return append(all, r)
	}
	return all
}

// personRules reads the file named by core.excludesFile, cached because most repositories share it.
func (f Finder) personRules(path string) *Rules {
	p := f.UserConfig
	if p == nil {
		return Parse(readFile(path))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r, known := p.rules[path]
	if !known {
		r = Parse(readFile(path))
		if p.rules == nil {
			p.rules = map[string]*Rules{}
		}
		p.rules[path] = r
	}
	return r
}

// gitDir returns the folder that holds info/exclude and the configuration: ".git", or for a linked
// worktree or submodule the target in the file ".git".
func (f Finder) gitDir(top string) string {
	if top == "" {
		return ""
	}
	dir := filepath.Join(top, GitDir)
	if to, ok := strings.CutPrefix(string(readFile(f.openPath(dir))), "gitdir:"); ok {
		dir = under(top, strings.TrimSpace(to))
	}
	if to := strings.TrimSpace(string(readFile(f.openPath(dir + "/commondir")))); to != "" {
		dir = under(dir, to)
	}
	return dir
}

func under(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func (f Finder) env(name string) string {
	if f.Env != nil {
		return f.Env(name)
	}
	return os.Getenv(name)
}
