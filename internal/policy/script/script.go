// Package script reads shell texts: Lower finds what stands in any text, and Read writes down the
// part of the language that can be judged before it runs, so that bash can read it in one way only.
//
// The one rule: what runs is what was read. Text quotes every word anew, names the variables of the
// text apart from those of the environment, and puts in the file names that patterns stood for, so
// that neither a difference between this reader and bash nor a file that appears in between changes
// what was judged. What one program prints for another to take as names goes through a filter that
// lets pass plain names below the folder alone; what is split into words otherwise stays the words
// that it is, and no pattern in it is looked up.
//
// Start reading at Lower and Read. For Lower, parse.go reads as bash does, and rawword.go and
// evaluate.go look at words and at what evaluates them. For Read, statement.go walks through
// statements, call.go takes one program, word.go finds what a word may be, pattern.go the names
// that a pattern stands for, beside.go what programs print for others, redirect.go files, test.go
// [[ ]], builtin.go what changes the shell itself, write.go writes.
//
// Known limits: arithmetic, functions, case, arrays and background commands are not read; such a
// text is asked for.
package script

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxSteps bounds the programs of one text, maxAlternatives what one word may be.
const (
	maxSteps        = 200
	maxAlternatives = 1000
	maxLoops        = 3
)

// Start is what a text begins with.
type Start struct {
	Dir  string // absolute and free of links
	Home string // if "", not known
	// Names lists a folder, for patterns. Its error is fs.ErrNotExist where there is no folder, and any
	// other where it may not be looked at; if nil, no pattern is read.
	Names func(dir string) ([]string, error)
	// Folder resolves the target of cd.
	Folder func(dir, name string) (string, error)
	// Quiet reports that a program changes no file, so that what was read of files before it is
	// still so behind it.
	Quiet func(words []Word) bool
	// Lists reports a program that prints names of files below its folder, one a line, and nothing
	// else; if nil, none does.
	Lists func(words []Word) bool
	// Secret are patterns of the names that are left out of such a list.
	Secret []string
}

// Script is a text that was read.
type Script struct {
	Steps []*Step
	root  []node
	names []string // variables of its own
	subs  [][]node
	dir   string
	// filter is the function through which lists of names go; if empty, there is no such list.
	filter string
	bare   bool // no file names are put in for patterns in what is split when it runs
}

// Step is one program, or with no Words the files of a group of them.
type Step struct {
	Words []Word
	Set   []Setting
	Files []File
	Input bool     // it is given text to read
	Dirs  []string // where it may run
	Late  bool     // programs before it may have changed files
	Named bool     // it is given names of files below its folder, and they have gone through the filter
	// Enter is the folder that a cd goes to, as it is written.
	Enter string
	// Language says that it is a part of the shell that runs nothing: its words need no rule.
	Language bool
	// Guards are checked just before it runs; Instead are the words that run in place of its own.
	Guards  []Guard
	Instead []string
	Away    bool // it runs in the root folder
	beside  bool // a program runs at the same time, and writes what it reads
	fixed   string
	passes  []string // redirections as they are written
}

// Setting is NAME=value before a program.
type Setting struct {
	Name  string
	Value Word
}

// File is the target of a redirection.
type File struct {
	Path  Word
	Write bool
}

// Guard holds that a name still leads where it led when it was judged.
type Guard struct{ Name, Dir, Abs string }

// Word is one word, or where One is false any number of them.
type Word struct {
	Alts  []string // what it may be; none: that is known only when it runs
	One   bool
	Names bool // any number of names of files below the folder, which have gone through the filter
	Piped bool // a pipe from a program, under a name
	out   string
}

// Fixed is a setting of a known value.
func Fixed(name, value string) Setting { return Setting{name, literal(value)} }

// Written is a word as the command has it, for a sentence about it.
func (w Word) Written() string { return strings.ReplaceAll(strings.Trim(w.out, `"`), "$"+own(""), "$") }

// source is a part of a command as a sentence about it shows it.
func source(n syntax.Node) string {
	var b strings.Builder
	if syntax.NewPrinter().Print(&b, n) != nil {
		return "a word that cannot be read"
	}
	return b.String()
}

// Empty reports a text that does nothing.
func (s Script) Empty() bool { return len(s.root) == 0 }

// Known is the text of a word that can be nothing else.
func (w Word) Known() (string, bool) {
	if w.One && len(w.Alts) == 1 {
		return w.Alts[0], true
	}
	return "", false
}

// refusal is why a text is not read.
type refusal struct{ why string }

func (r refusal) Error() string { return r.why }

func refuse(format string, args ...any) error { return refusal{fmt.Sprintf(format, args...)} }

// Read takes a text that was lowered. Its error says in a few words why it is not judged: "it sets
// …".
func Read(l *Lowered, at Start) (s Script, err error) {
	if l.Broken != nil {
		return Script{}, fmt.Errorf("it does not parse: %w", l.Broken)
	}
	file := l.file
	if err := plainly(file, l.Text); err != nil {
		return Script{}, err
	}
	r := &reader{Start: at, names: map[string]bool{}}
	for _, name := range assignedIn(file) {
		r.names[name] = true
		s.names = append(s.names, name)
	}
	st := &state{dirs: []string{at.Dir}, vars: map[string]Word{}}
	s.root, err = r.list(file.Stmts, st)
	if err == nil && len(r.steps) > maxSteps {
		err = refuse("it has more than %d programs", maxSteps)
	}
	if err == nil && r.split && r.stands {
		err = refuse("it has a pattern beside a word that is split when it runs, and may hold one too")
	}
	s.Steps, s.subs, s.dir, s.bare = r.steps, r.subs, at.Dir, r.split
	if r.listed {
		s.filter = filter(at.Secret)
	}
	return s, err
}

// plainly refuses what this parser and bash are known to read differently.
func plainly(file *syntax.File, text string) (err error) {
	for line := range strings.SplitSeq(text, "\\\n") {
		if rest := strings.TrimLeft(line, " \t"); len(line) < len(text) && strings.HasPrefix(rest, "#") && !strings.HasPrefix(text, line) {
			return refuse("a comment follows a line that goes on")
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Comment:
			if strings.HasSuffix(n.Text, `\`) || strings.Contains(n.Text, "\\\n") {
				err = refuse("a comment of it ends in a backslash")
			}
		case *syntax.Word:
			for i := 1; i < len(n.Parts); i++ {
				if n.Parts[i-1].End() != n.Parts[i].Pos() {
					err = refuse("it has a word in two lines")
				}
			}
		}
		return true
	})
	return err
}

// assignedIn lists the variables that a text sets anywhere.
func assignedIn(file *syntax.File) (names []string) {
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				for _, a := range n.Assigns {
					if a.Name != nil {
						add(a.Name.Value)
					}
				}
			} else if n.Args[0].Lit() == "read" {
				for _, w := range n.Args[1:] {
					if variable(w.Lit()) {
						add(w.Lit())
					}
				}
			}
		case *syntax.WordIter:
			add(n.Name.Value)
		}
		return true
	})
	return names
}

// variable reports a plain name.
func variable(s string) bool {
	for i, c := range s {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
