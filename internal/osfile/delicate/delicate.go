// Package delicate is the one list of names of files and folders by which another program runs
// something that its user did not ask for: they opened a folder, entered it, asked for a status,
// installed a package, started a shell or an assistant.
//
// File tools ask before they write such a file. A change by a command in the sandbox is applied
// only when the user says so, and it is told. Staged turns, jobs and the sandbox without a view go
// by the same list.
//
// The line: a name is on the list where the file acts although nobody asked for what it says. Files
// that people build, test or run by their own names are not on it: package.json, Makefile,
// justfile, Dockerfile, build.gradle, conftest.py, .github/workflows, configurations of linters and
// formatters. A user who runs those knows that they run code of the project. Texts that a model
// reads (AGENTS.md, CLAUDE.md) are no programs, and .gitignore and .editorconfig name none. Folders
// of installed packages (node_modules, site-packages) do not count either: the user's next build
// runs their code anyway, and packages bring such names by the dozen.
//
// Version control is in two parts. Store knows its folders, in which no file tool writes. A command
// may, since the program itself does; the names in them by which that program runs something are on
// the list. Package sandbox judges the changes in git's own folder in detail.
package delicate

import (
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Where says where a name counts.
type Where int

// The places.
const (
	Anywhere Where = iota // at any depth
	Top                   // at the top of the workspace, or of another folder that commands may write
	Home                  // in the home folder
)

// Name is a row of the list.
type Name struct {
	// Path is in lower case, with slashes. One that ends in a slash is a folder with all that is
	// in it. A * stands for any text within one step.
	Path  string
	Where Where
	// Program is who runs something, and Runs is when, or what.
	Program string
	Runs    string
}

// Folder reports a row that is a folder with all that is in it.
func (n Name) Folder() bool { return strings.HasSuffix(n.Path, "/") }

// Plain is the path without what marks a folder.
func (n Name) Plain() string { return strings.TrimSuffix(n.Path, "/") }

// Kind is what has a name.
type Kind int

// The kinds. Moved is a link, or a folder that was filled under another name: it counts for every
// row that it could lead to, as .hg does for .hg/hgrc.
const (
	File Kind = iota
	Folder
	Moved
)

// index finds rows by their last step.
type index struct {
	last     map[string][]row
	patterns []row
	leading  map[string]bool // paths on the way to a row of several steps
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

// In finds the row for a path relative to the top of a workspace, with slashes. Its Path is what
// the path says where the row has a pattern.
func In(rel string, kind Kind) (Name, bool) { return find(rel, kind, Top) }

// InHome finds the row for a path relative to the home folder, with slashes.
func InHome(rel string, kind Kind) (Name, bool) { return find(rel, kind, Home) }

// Ends reports that a step may be the last of a row, at less cost than to look for a whole path.
func Ends(step string) bool {
	x := indexed()
	step = Fold(step)
	return x.last[step] != nil || slices.ContainsFunc(x.patterns, func(r row) bool {
		ok, _ := path.Match(r.steps[len(r.steps)-1], step)
		return ok
	})
}

func find(rel string, kind Kind, where Where) (Name, bool) {
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

// at reports that the steps of a path end in those of the row.
func (r row) at(steps []string, where Where) bool {
	from := len(steps) - len(r.steps)
	if from < 0 || r.Where != Anywhere && (r.Where != where || from > 0) {
		return false
	}
	for i, step := range r.steps {
		if ok, _ := path.Match(step, steps[from+i]); !ok {
			return false
		}
	}
	return true
}

// installed reports the folder of installed packages.
func installed(step string) bool { return step == "node_modules" || step == "site-packages" }

// Store reports the name of a folder in which version control, or adze, keeps what is its own.
// Names count whether or not they exist yet.
func Store(step string) bool {
	return slices.Contains([]string{".git", "git~1", ".hg", ".sl", ".svn", ".jj", ".bzr", ".pijul", "_darcs", ".adze"}, Fold(step))
}

// Fold is a step of a path as file systems may compare it: in lower case, without the points and
// blanks at its end that Windows drops, and without the invisible characters that macOS leaves out
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

// Stands are names at the top of a workspace in whose place an empty folder may stand for a time:
// no program takes one for a fault.
func Stands() []string {
	return []string{".adze", ".vscode", ".idea", ".zed", ".envrc", ".mcp.json", ".claude", ".cursor", ".codex", ".gemini", ".exrc", ".nvim.lua", ".devcontainer", ".devcontainer.json"}
}

// Spelled are the paths of the rows that hold below a folder, without those that have a pattern.
func Spelled(where Where) (out []string) {
	for _, n := range Names() {
		if (n.Where == Anywhere || n.Where == where) && !strings.Contains(n.Path, "*") {
			out = append(out, n.Plain())
		}
	}
	return out
}
