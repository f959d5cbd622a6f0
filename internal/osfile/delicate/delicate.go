// Package delicate lists the files and folders through which another program runs something that
// its user did not ask for: when they open or enter a folder, ask for a status, install a package,
// start a shell or an assistant.
//
// File tools ask before writing such a file. A sandboxed command's change to one is applied only
// with the user's consent. Staged turns, jobs and the sandbox without a view use the same list.
//
// The criterion: a name is listed if the file takes effect unasked. Files that people build, test
// or run by name are not: package.json, Makefile, Dockerfile, conftest.py, .github/workflows,
// configurations for linters and formatters. Texts for models (AGENTS.md, CLAUDE.md) are not
// programs. Folders of installed packages (node_modules, site-packages) do not count: the next
// build runs their code anyway, and packages contain many such names.
//
// Store reports the folders of version control, in which no file tool writes. Commands may, since
// git itself does; the list has the names in them that make git run something. Package sandbox
// judges changes in git's own folder in detail.
package delicate

import (
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Location is the location in which a name counts.
type Location int

// The places.
const (
	Anywhere Location = iota // at any depth
	Top                      // at the top of the workspace, or of another folder writable by commands
	Home                     // in the home folder
)

// Name is an entry in the list.
type Name struct {
	// Path is in lower case, with slashes. A trailing slash means a folder with all its contents. A
	// * matches any text within one element.
	Path     string
	Location Location
	// Program is the program, and Runs describes when it runs what.
	Program string
	Runs    string
}

// Folder reports whether the entry is a folder with all its contents.
func (n Name) Folder() bool { return strings.HasSuffix(n.Path, "/") }

// Plain returns the path without a trailing slash.
func (n Name) Plain() string { return strings.TrimSuffix(n.Path, "/") }

// Kind is a file type.
type Kind int

// The kinds. Moved is a link, or a folder filled under another name: it counts for every entry that
// it could lead to, as .hg does for .hg/hgrc.
const (
	File Kind = iota
	Folder
	Moved
)

type index struct {
	last     map[string][]row
	patterns []row
	leading  map[string]bool // parents of multi-element entries
}

type row struct {
	Name
	steps []string
}

var indexed = sync.OnceValue(func() *index {
	x := &index{last: map[string][]row{}, leading: map[string]bool{}}
	for _, n := range Names() {
		r := row{n, strings.Split(n.Plain(), "/")}
		for i := range len(r.steps) - 1 {
			x.leading[strings.Join(r.steps[:i+1], "/")] = true
		}
		if last := r.steps[len(r.steps)-1]; strings.Contains(last, "*") {
			x.patterns = append(x.patterns, r)
		} else {
			x.last[last] = append(x.last[last], r)
		}
	}
	return x
})

// In finds the entry for a path relative to a workspace, with slashes. Its Path is the actual path
// if the entry has a pattern.
func In(rel string, kind Kind) (Name, bool) { return find(rel, kind, Top) }

// InHome finds the entry for a path relative to the home folder, with slashes.
func InHome(rel string, kind Kind) (Name, bool) { return find(rel, kind, Home) }

// Ends reports whether step may be an entry's last element, more cheaply than a full search.
func Ends(step string) bool {
	x := indexed()
	step = Fold(step)
	return x.last[step] != nil || slices.ContainsFunc(x.patterns, func(r row) bool {
		ok, _ := path.Match(r.steps[len(r.steps)-1], step)
		return ok
	})
}

func find(rel string, kind Kind, where Location) (Name, bool) {
	x := indexed()
	steps := strings.Split(rel, "/")
	for i := range steps {
		steps[i] = Fold(steps[i])
		if installed(steps[i]) && i < len(steps)-1 {
			return Name{}, false
		}
	}
	for i, step := range steps {
		last := i == len(steps)-1
		for _, rows := range [][]row{x.last[step], x.patterns} {
			for _, r := range rows {
				if (last && kind != Folder || r.Folder()) && r.at(steps[:i+1], where) {
					n := r.Name
					n.Path = strings.Join(steps[i+1-len(r.steps):i+1], "/")
					if r.Folder() {
						n.Path += "/"
					}
					return n, true
				}
			}
		}
	}
	if kind == Moved {
		for i := range steps {
			if way := strings.Join(steps[i:], "/"); x.leading[way] {
				return Name{Path: way + "/", Program: "a program", Runs: "what it leads to"}, true
			}
		}
	}
	return Name{}, false
}

func (r row) at(steps []string, where Location) bool {
	from := len(steps) - len(r.steps)
	if from < 0 || r.Location != Anywhere && (r.Location != where || from > 0) {
		return false
	}
	for i, step := range r.steps {
		if ok, _ := path.Match(step, steps[from+i]); !ok {
			return false
		}
	}
	return true
}

func installed(step string) bool { return step == "node_modules" || step == "site-packages" }

// Store reports folder names in which version control or adze keeps internal data. Names count
// whether or not they exist yet.
func Store(step string) bool {
	return slices.Contains([]string{".git", "git~1", ".hg", ".sl", ".svn", ".jj", ".bzr", ".pijul", "_darcs", ".adze"}, Fold(step))
}

// Fold normalizes a path element as file systems may compare it: in lower case, without trailing
// dots and spaces, which Windows drops, and without the invisible characters that macOS ignores
// (CVE-2014-9390).
func Fold(step string) string {
	plain := true
	for i := range len(step) {
		c := step[i]
		plain = plain && c < 0x80 && (c < 'A' || c > 'Z')
	}
	if !plain {
		step = strings.ToLower(strings.Map(func(c rune) rune {
			if unicode.Is(unicode.Cf, c) {
				return -1
			}
			return c
		}, step))
	}
	if step == "." || step == ".." {
		return step
	}
	return strings.TrimRight(step, " .")
}

// PlaceholderNames returns names at a workspace's top that an empty folder may temporarily occupy:
// no program treats one as an error.
func PlaceholderNames() []string {
	return []string{".adze", ".vscode", ".idea", ".zed", ".envrc", ".mcp.json", ".claude", ".cursor", ".codex", ".gemini", ".exrc", ".nvim.lua", ".devcontainer", ".devcontainer.json"}
}

// Spelled returns the paths for a location, except patterns.
func Spelled(where Location) (out []string) {
	for _, n := range Names() {
		if (n.Location == Anywhere || n.Location == where) && !strings.Contains(n.Path, "*") {
			out = append(out, n.Plain())
		}
	}
	return out
}
