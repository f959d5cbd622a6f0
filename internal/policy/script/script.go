// Package script reads shell texts: Lower finds what stands in any text, and Read writes down the
// part of the language that can be judged before it runs, so that bash can read it in one way only.
//
// The one rule: what runs is what was read. Text quotes every word anew, puts in the file names
// that patterns stood for and the values of variables that are known, and writes a loop over known
// words as the same lines for each of them. So neither a difference between this reader and bash
// nor a file that appears in between changes what was judged.
//
// Start reading at Lower and Read. For Lower, parse.go reads as bash does, and rawword.go and
// evaluate.go look at words and at what evaluates them. For Read, statement.go walks through
// statements, call.go takes one program, word.go finds what a word is, pattern.go the names that a
// pattern stands for, redirect.go files.
//
// Known limits: Read takes programs with words and redirections, lists, pipelines, groups, if,
// loops over known words and over lines, cd and variables. A text with anything else is asked for.
package script

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxSteps = 200  // programs of one text
	maxNames = 1000 // names that a pattern stands for
)

// Start is what a text begins with.
type Start struct {
	Dir  string // absolute and free of links
	Home string // if empty, not known
	// Names lists a folder, for patterns. Its error is fs.ErrNotExist where there is no folder, and
	// any other where it may not be looked at. If nil, no pattern is read.
	Names func(dir string) ([]string, error)
	// Folder resolves the target of cd.
	Folder func(dir, name string) (string, error)
	// Quiet reports a program that changes no file, so that what was read of files before it is still
	// so behind it.
	Quiet func(words []Word) bool
}

// Script is a text that was read.
type Script struct {
	Steps []*Step
	body  code
}

// Step is one program, or with no Words the files of a group of them.
type Step struct {
	Words []Word
	Set   []Setting
	Files []File
	Input bool   // it is given text to read
	Dir   string // where it runs
	Late  bool   // programs before it may have changed files
	Enter string // the folder that a cd goes to, as it is written
	// Language says that it is a part of the shell that runs nothing: its words need no rule.
	Language bool
	// Guards are checked just before it runs; Instead are the words that run in place of its own.
	Guards  []Guard
	Instead []string
	Away    bool // it runs in the root folder
	fixed   code // in place of its words
	passes  code // redirections as they are written
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

// Word is one word; with Many it is any number of them.
type Word struct {
	Text    string
	IsKnown bool // else Text says nothing: that is known only when it runs
	Many    bool
	code    code
	written string // in the command, for a sentence about it
}

// Fixed is a setting of a known value.
func Fixed(name, value string) Setting { return Setting{name, Literal(value)} }

// Literal is a word that is this text.
func Literal(text string) Word { return Word{Text: text, IsKnown: true, code: code{quote(text)}} }

// Known is the text of a word that can be nothing else.
func (w Word) Known() (string, bool) { return w.Text, w.IsKnown }

// Written is a word as the command has it, for a sentence about it.
func (w Word) Written() string { return w.written }

// Empty reports a text that does nothing.
func (s Script) Empty() bool { return len(s.body) == 0 }

// Read takes a text that was lowered. Its error says in a few words why it is not judged: "it sets
// …".
func Read(l *Lowered, at Start) (s Script, err error) {
	if l.Broken != nil {
		return Script{}, fmt.Errorf("it does not parse: %w", l.Broken)
	}
	if err := plainly(l.file, l.Text); err != nil {
		return Script{}, err
	}
	r := &reader{Start: at}
	s.body, err = r.list(l.file.Stmts, &state{dir: at.Dir, vars: map[string]Word{}})
	if s.Steps = r.steps; err == nil && len(r.steps) > maxSteps {
		err = refuse("it has more than %d programs", maxSteps)
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

// refuse says why a text is not read.
func refuse(format string, args ...any) error { return fmt.Errorf(format, args...) }

// source is a part of a command as a sentence about it shows it.
func source(n syntax.Node) string {
	var b strings.Builder
	if syntax.NewPrinter().Print(&b, n) != nil {
		return "a word that cannot be read"
	}
	return b.String()
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
