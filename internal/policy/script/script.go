// Package script reads shell texts: Lower finds what stands in any text, and Read writes down the
// part of the language that can be judged before it runs, so that bash can read it in one way only.
//
// The one rule: what runs is what was read. Text quotes every word anew, puts in the file names
// that patterns stood for and the values of variables that are known, and writes a loop over known
// words as the same lines for each of them. So neither a difference between this reader and bash
// nor a file that appears in between changes what was judged.
//
// Start reading at Lower and Read. lower.go finds what stands in a text, read.go goes through its
// statements, word.go says what a word is for both, and write.go writes what runs.
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

// Fixed is a setting of a known value.
func Fixed(name, value string) Setting { return Setting{name, Literal(value)} }

// Empty reports a text that does nothing.
func (s Script) Empty() bool { return len(s.body) == 0 }

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
