// Package programs is the table of programs: the files each reads and writes, the programs it runs,
// the options with further effects, and the forms that are read-only.
//
// The one rule: anything missing in the table is not harmless. A command with an unknown option,
// form or number of words never runs unasked. Names, used for deny rules, keeps reading.
//
// Start reading at Judge and Names. The programs are data in table/, one file per family, parsed by
// table.go; scan.go scans a command's words for Judge, names.go for Names. scripts.go and small.go
// read the small languages in four programs, git.go handles git; hooks.go knows which hooks a git
// command may run.
//
// Known limits: the caller must search a tree for forbidden files, and must make sure that a
// program's name is not found in the workspace. A package passed to go doc by import path may
// contain a link to an outside file.
package programs

import (
	"slices"

	"adze/internal/policy/script"
)

// Kind is a use of a path.
type Kind string

const (
	Read    Kind = "read"  // a file's content
	List    Kind = "list"  // names and sizes
	Tree    Kind = "tree"  // the content of all files below
	Write   Kind = "write" // a file or folder is created or overwritten
	Removed Kind = "gone"  // removed or moved away, with everything below
)

// An Access is a path that a command uses, as written, or an option with further effects, or both.
type Access struct {
	Kind            Kind
	Path            string   // empty if only Option is set
	Option          string   // empty if the program always uses such a path
	Effect          string   // the option's effect, such as "writes a file"
	Hidden          bool     // tree: includes names that begin with a dot
	Follow          bool     // tree: follows links
	Only            []string // tree: patterns of the names read; nil means all
	ExcludesSecrets bool     // tree: excludes files known by name for their secrets
	Flat            bool     // tree: follows links to files only
}

// String describes the option for users.
func (a Access) String() string { return a.Option + " " + a.Effect }

// Use describes a command's effects.
type Use struct {
	Accesses []Access
	// Words replace the given ones, with options that keep git from running programs and showing
	// secrets.
	Words []string
	// Git: it is a git command, whose repository may name programs.
	Git bool
	Dir string // git's -C folder; empty means the command's
	// Since is git's first version with this subcommand, zero if all have it. In an older one a user's
	// alias may have its name.
	Since [2]int
	// History: it shows repository contents not named by a path.
	History bool
	// FolderIndependent: the result does not depend on the current folder, in which a project could
	// replace the program.
	FolderIndependent bool
	// Local holds a variable that keeps the program from being replaced by another version, or from
	// the network.
	Local []string
}

// Judge returns a command's effects, or false if the table does not know it as harmless.
func Judge(words []script.Word) (Use, bool) {
	if len(words) == 0 || !words[0].Known {
		return Use{}, false
	}
	u := Use{Words: script.Texts(words)}
	name := words[0].Text
	if (name == "[" || name == "test" || name == "git") && slices.ContainsFunc(words, func(w script.Word) bool { return w.Placeholder }) {
		return Use{}, false
	}
	switch {
	case name == "[" || name == "test":
		return u, tests(words)
	case name == "git":
		return git(words)
	case len(words) == 2 && words[1].Known && IsKind("version "+words[1].Text, name): // nothing but a version query
		u.FolderIndependent = true
		return u, true
	}
	p, args, ok := find(words)
	if !ok {
		return Use{}, false
	}
	return p.judge(args, u)
}

// Any reports whether a program ignores or only prints its words.
func Any(name string) bool {
	p, ok := tabled()[name]
	return ok && p.any && p.special == ""
}
