// Package programs is the table of programs: which files each reads and writes, what it runs, by
// which options it does more than its name says, and under which it only looks.
//
// The one rule: what the table does not list is not harmless. An option, a form or a number of
// words that it does not know keeps a command from running unasked. Names, for rules that deny,
// reads on.
//
// Start reading at Judge and Names. The programs are data, one file a family in table/, read by
// table.go; scan.go goes through the words of a command for Judge, names.go for Names. scripts.go
// and small.go read the small languages of four programs, git.go what git adds; hooks.go says which
// hooks a git that does more may run.
//
// Known limits: of a tree that is read, the caller has to find what must not be; of a program, its
// name is taken for it, so the caller finds it outside of the workspace. A package that go doc is
// given by its import path may hold a link to a file elsewhere.
package programs

import (
	"slices"

	"adze/internal/policy/script"
)

// Kind is how a path is used.
type Kind string

// Kinds.
const (
	Read  Kind = "read"  // the content of a file
	List  Kind = "list"  // names and sizes
	Tree  Kind = "tree"  // the content of all files below
	Write Kind = "write" // a file or folder that is made or overwritten
	Gone  Kind = "gone"  // what is removed or moved away, with all below it
)

// Access is one path that a command touches, as it stands there, or an option by which a program
// does more than its name says, or both.
type Access struct {
	Kind   Kind
	Path   string   // if empty, Option alone counts
	Option string   // if empty, the program is known to use such a path
	Does   string   // what the option does, such as "writes a file"
	Hidden bool     // of a tree: also names that begin with a dot
	Follow bool     // of a tree: also through links
	Only   []string // of a tree: patterns of the names that are read; if nil, all
	Spared bool     // of a tree: files that are known by name for their secrets are left out
	Flat   bool     // of a tree: of links, only those to files are followed
}

// String says what the option does, for people.
func (a Access) String() string { return a.Option + " " + a.Does }

// Use is what a command does.
type Use struct {
	Accesses []Access
	// Words run in place of the given ones: with what keeps git from running programs and showing
	// secrets.
	Words []string
	// Git says that it is a git, whose repository may name programs.
	Git bool
	Dir string // that git is told to work in; if empty, that of the command
	// History says that contents of the repository are shown that no path names.
	History bool
	// Away says that the answer does not depend on the folder, in which a project could change who
	// answers.
	Away bool
	// Local is a variable that keeps the program from being exchanged for another one, or from the
	// network.
	Local []string
}

// Judge says what a command does; if false, the table does not know it as harmless.
func Judge(words []script.Word) (Use, bool) {
	if len(words) == 0 || !words[0].Known {
		return Use{}, false
	}
	u := Use{Words: script.Texts(words)}
	name := words[0].Text
	if (name == "[" || name == "test" || name == "git") && slices.ContainsFunc(words, func(w script.Word) bool { return w.Found }) {
		return Use{}, false
	}
	switch {
	case name == "[" || name == "test":
		return u, tests(words)
	case name == "git":
		return git(words)
	case len(words) == 2 && words[1].Known && Is("version "+words[1].Text, name): // a lone question for it
		u.Away = true
		return u, true
	}
	p, args, ok := find(words)
	if !ok {
		return Use{}, false
	}
	return p.judge(args, u)
}

// Any reports a program that takes any number of any words: it prints them, or nothing.
func Any(name string) bool {
	p, ok := tabled()[name]
	return ok && p.any && p.special == ""
}
