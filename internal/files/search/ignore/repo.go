package ignore

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// MaxFile bounds what is read of one ignore or configuration file, in bytes.
const MaxFile = 8 << 20

// Names that a walk looks for in every folder. A folder with GitDir or JJDir is the top of a
// repository.
const (
	GitFile = ".gitignore"
	OwnFile = ".ignore"
	GitDir  = ".git"
	JJDir   = ".jj"
)

// Finder reads what lies outside the folders of a walk: configuration and excludes.
type Finder struct {
	// Env looks up a variable; nil means os.Getenv.
	Env func(string) string
	// Person, when given, keeps what is configured for the user, so that it is read once for all
	// repositories of a walk.
	Person *Person
	// Top is the folder where .gitignore files begin to count outside a repository; the folder of a
	// Root is one always.
	Top string
	// At is where a path is to be opened; nil means there.
	At func(path string) string
}

func (f Finder) at(path string) string {
	if f.At == nil || path == "" {
		return path
	}
	return f.At(path)
}

// Person is what is configured for the user beside all repositories, as it was when it was first
// asked for. The zero value is ready; it is safe for concurrent use.
type Person struct {
	once   sync.Once
	config config // without those of a repository

	mu    sync.Mutex
	rules map[string]*Rules // of the files that core.excludesFile named, by path
}

// Root returns the level of dir, an absolute path: the .ignore files of all folders above it, and
// the excludes and .gitignore files of its repository. That dir itself may be ignored does not
// count: whoever names it wants to see it.
func (f Finder) Root(dir string) *Level { return f.level(filepath.Clean(dir), true) }

// level is that of dir; first says that a repository begins there, where it is inside none.
func (f Finder) level(dir string, first bool) *Level {
	l := &Level{}
	if up := filepath.Dir(dir); up != dir {
		l = f.level(up, false)
	}
	top := (first || dir == f.Top) && !l.inside
	for _, name := range [...]string{GitDir, JJDir} {
		_, err := os.Lstat(f.at(filepath.Join(dir, name)))
		top = top || err == nil
	}
	return l.Enter(filepath.Base(dir), f.filesOf(dir, top, l.inside))
}

// filesOf reads the ignore files that count in a folder, which may be the top of a repository or
// inside one.
func (f Finder) filesOf(dir string, top, inside bool) Files {
	files := Files{Own: Parse(readInTree(f.at(filepath.Join(dir, OwnFile)))), Repo: top}
	if top || inside {
		files.Git = Parse(readInTree(f.at(filepath.Join(dir, GitFile))))
	}
	if top {
		files.Excludes = f.Excludes(dir)
	}
	return files
}

// Excludes returns the rules of .git/info/exclude and of core.excludesFile for the repository at
// top ("" for none), highest first. Their patterns are relative to top.
func (f Finder) Excludes(top string) []*Rules {
	var all []*Rules
	common := f.gitDir(top)
	if common != "" {
		all = addRules(all, Parse(readFile(f.at(filepath.Join(common, "info", "exclude")))))
	}
	return addRules(all, f.personRules(f.excludesFile(top, common)))
}

func addRules(all []*Rules, r *Rules) []*Rules {
	if r.Len() > 0 {
		return append(all, r)
	}
	return all
}

// personRules reads the file that core.excludesFile names: most repositories name the same, or
// none.
func (f Finder) personRules(path string) *Rules {
	p := f.Person
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

// gitDir returns the folder that holds info/exclude and the configuration: ".git" itself, or, for a
// linked work tree or a submodule, what the file ".git" points to.
func (f Finder) gitDir(top string) string {
	if top == "" {
		return ""
	}
	dir := filepath.Join(top, GitDir)
	if to, ok := strings.CutPrefix(string(readFile(f.at(dir))), "gitdir:"); ok {
		dir = under(top, strings.TrimSpace(to))
	}
	if to := strings.TrimSpace(string(readFile(f.at(dir + "/commondir")))); to != "" {
		dir = under(dir, to)
	}
	return dir
}

// under resolves a path that may be relative to dir.
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
